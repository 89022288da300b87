/** What each command gets: its process, the global options, and the workspace, opened when it is first asked for. */
import type { ControlDeps, Finding, SettingsPlaces, Workspace } from '../control/index.ts';
import type { Hosting } from './hosting.ts';
import type { Io } from './io.ts';
import type { Styles } from './text/style.ts';

/** Made by `main`: where ports meet adapters. Loaded only by commands that need it. */
export interface Machine {
  /** The workspace around `directory`; throws when it is none. Reads only. */
  openWorkspace(directory: string): Promise<Workspace>;
  readonly deps: ControlDeps;
  /** Of the workspace around `directory` when it is one; throws only when `directory` was named and is none. */
  settingsPlaces(directory: string | undefined): Promise<SettingsPlaces>;
  /** For `run` and `resume`: a supervisor in this process. */
  readonly hosting: Hosting;
  /** Tries to break out of the sandbox of this machine. */
  proveSandbox(workspace: Workspace): Promise<readonly Finding[]>;
}

export interface Context {
  readonly io: Io;
  readonly json: boolean;
  /** Colours as the standard output wants them. */
  readonly styles: Styles;
  /** Width to keep on the standard output; null when it is not a terminal. */
  readonly width: number | null;
  machine(): Promise<Machine>;
  workspace(): Promise<Workspace>;
  /** A command to type next, with `--workspace` when it would not find the repository without. */
  command(line: string): string;
  /** One JSON document on one line. */
  printJson(value: unknown): void;
  print(text: string): void;
}
