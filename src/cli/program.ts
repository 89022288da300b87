/**
 * The command line: parsing by commander, help with examples, one place where failures are told and exit codes decided.
 */
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { ExitCode } from '../kernel/errors.ts';
import { EXIT } from '../kernel/errors.ts';
import type { CommandSpec, OptionValues } from './command.ts';
import { COMMANDS } from './command-table.ts';
import type { Context, KeepSupervisor, Machine } from './context.ts';
import { tellFailure, usageError } from './failure.ts';
import type { Io } from './io.ts';
import { commandAt, type Where } from './next.ts';
import { flowing } from './text/flowing.ts';
import { COLOR_STYLES, PLAIN_STYLES, wantsColor } from './text/style.ts';

export interface CliDeps {
  readonly io: Io;
  readonly argv: readonly string[];
  readonly version: () => string;
  readonly loadMachine: (io: Io) => Promise<Machine>;
  readonly loadKeeper: () => Promise<KeepSupervisor>;
}

/** Runs one command and returns its exit code; everything is written when it resolves. Never rejects. */
export async function runCli(deps: CliDeps): Promise<ExitCode> {
  const { io, argv } = deps;
  let exit: ExitCode = EXIT.ok;
  // Waiting for a file to change or for a clock does not keep Node alive; a command that has not ended does.
  const alive = setInterval(() => undefined, 60_000);
  const program = makeProgram(deps, async (spec, args, options) => {
    const context = makeContext(deps, options);
    exit = await (await spec.load()).run(context, args, options);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    exit = outcomeOf(error, deps, program);
  }
  clearInterval(alive);
  await io.out.flush();
  await io.err.flush();
  return exit;
}

function outcomeOf(error: unknown, deps: CliDeps, program: Command): ExitCode {
  const json = deps.argv.includes('--json');
  const where = whereOf(deps.io, program.opts()['workspace']);
  if (!(error instanceof CommanderError)) return tellFailure(deps.io, error, json, where);
  if (error.exitCode === 0) return EXIT.ok;
  if (error.code === 'commander.help' && !json) {
    deps.io.err.write(`${program.helpInformation()}${TOP_HELP}`);
    return EXIT.usage;
  }
  return tellFailure(deps.io, usageFromCommander(error, commandIn(deps.argv)), json, where);
}

/** The command whose help would have told; null when none was named. */
function commandIn(argv: readonly string[]): string | null {
  return argv.find((word) => COMMANDS.some((command) => command.name === word)) ?? null;
}

/** `error: unknown command 'rnu'\n(Did you mean run?)` becomes a message and a hint. */
function usageFromCommander(error: CommanderError, command: string | null): Error {
  if (error.code === 'commander.help') {
    return usageError('name a command', 'See `troupe --help`.');
  }
  const text = error.message.replace(/^error: /, '');
  const near = /\n\((Did you mean .*)\)$/s.exec(text)?.[1];
  const message = near === undefined ? text : text.slice(0, text.lastIndexOf('\n('));
  const help = command === null ? 'troupe --help' : `troupe ${command} --help`;
  return usageError(message, near ?? `See \`${help}\`.`);
}

type Action = (spec: CommandSpec, args: readonly string[], options: OptionValues) => Promise<void>;

function makeProgram(deps: CliDeps, action: Action): Command {
  const { io } = deps;
  const program = new Command('troupe')
    .description(
      'Runs teams of coding agents on a git repository and loses nothing while it does so.',
    )
    .usage('<command> [options]')
    .option('--json', 'print JSON instead of text for people')
    .option(
      '--workspace <dir>',
      'the repository to work on (default: the one around the current folder)',
    )
    .version(deps.version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      // What went wrong is told by `tellFailure`, from the error that is thrown.
      writeErr: () => undefined,
      getOutHelpWidth: () => (io.out.isTerminal ? io.out.columns : 100),
    })
    .addHelpText('after', TOP_HELP);
  for (const spec of COMMANDS) addCommand(program, spec, action);
  return program;
}

const TOP_HELP = `
Start with:
  troupe init && troupe check team.yaml && troupe run team.yaml
Each command has its own help: troupe run --help
`;

function addCommand(program: Command, spec: CommandSpec, action: Action): void {
  const command = program
    .command(spec.name)
    .summary(spec.summary)
    .description(
      flowing(spec.details === undefined ? spec.summary : `${spec.summary}\n\n${spec.details}`),
    )
    .allowExcessArguments(false)
    .addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}\n`).join('')}`);
  for (const [flags, description] of spec.args) command.argument(flags, description);
  for (const option of spec.options) command.option(option.flags, option.description);
  command.action(async () => {
    await action(spec, command.args, command.optsWithGlobals());
  });
}

function whereOf(io: Io, workspace: unknown): Where {
  return { workspace: typeof workspace === 'string' ? workspace : undefined, cwd: io.cwd };
}

function makeContext(deps: CliDeps, options: OptionValues): Context {
  const { io } = deps;
  let machine: Promise<Machine> | null = null;
  let workspace: ReturnType<Context['workspace']> | null = null;
  const directory = options['workspace'];
  const context: Context = {
    io,
    json: options['json'] === true,
    styles: wantsColor(io.out.isTerminal, io.env) ? COLOR_STYLES : PLAIN_STYLES,
    width: io.out.isTerminal ? io.out.columns : null,
    machine() {
      machine ??= deps.loadMachine(io);
      return machine;
    },
    workspace() {
      workspace ??= context
        .machine()
        .then((loaded) => loaded.openWorkspace(typeof directory === 'string' ? directory : '.'));
      return workspace;
    },
    directory: resolve(io.cwd, typeof directory === 'string' ? directory : '.'),
    keeper: () => deps.loadKeeper(),
    command: (line) => commandAt(whereOf(io, directory), line),
    printJson(value) {
      io.out.write(`${JSON.stringify(value)}\n`);
    },
    print(text) {
      io.out.write(text);
    },
  };
  return context;
}
