/** What a command is: what `--help` shows of it, how it is parsed, and the module that does it. */
import type { ExitCode } from '../kernel/errors.ts';
import type { Context } from './context.ts';

export interface OptionSpec {
  /** As commander reads it: `--from <seq>`. */
  readonly flags: string;
  readonly description: string;
}

export type OptionValues = Readonly<Record<string, unknown>>;

export interface CommandModule {
  /** Throws a `TroupeError` for everything a person can have done wrong. */
  readonly run: (
    context: Context,
    args: readonly string[],
    options: OptionValues,
  ) => Promise<ExitCode>;
}

export interface CommandSpec {
  readonly name: string;
  /** As commander reads it: `<team>`, `[actor...]`. */
  readonly args: readonly (readonly [string, string])[];
  readonly summary: string;
  /** More than one line may say, shown by `--help` of the command. */
  readonly details?: string;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

export const RUN: OptionSpec = {
  flags: '--run <id>',
  description: 'the run meant (default: the newest)',
};
