/** What each command gets: its process, the global options, and the workspace, opened when it is first asked for. */
import type { ControlDeps, Finding, SettingsPlaces, Workspace } from '../control/index.ts';
import type { ErrorShape } from '../kernel/errors.ts';
import type { ParentFile } from '../protocol/shapes.ts';
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
  /** Starts a supervisor that stays up; resolves when it is ready, rejects with what kept it from that. */
  launch(workspace: Workspace, adopt?: number): Promise<void>;
  /** What the parent of a supervisor says of itself, and whether it is there; null: nothing. */
  parent(workspace: Workspace): ParentReport | null;
  /** Takes away what a parent left that gave up or was killed. */
  forgetParent(workspace: Workspace): void;
  /** Tries to break out of the sandbox of this machine. */
  proveSandbox(workspace: Workspace): Promise<readonly Finding[]>;
}

export interface ParentReport extends ParentFile {
  readonly alive: boolean;
}

/** Keeps a supervisor alive from this process, until it goes down. */
export type KeepSupervisor = (options: {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onReady: (pid: number) => void;
}) => Promise<
  | { readonly kind: 'down' }
  | { readonly kind: 'failed'; readonly error: ErrorShape }
  | { readonly kind: 'gave-up'; readonly text: string }
>;

export interface Context {
  readonly io: Io;
  readonly json: boolean;
  /** Colours as the standard output wants them. */
  readonly styles: Styles;
  /** Width to keep on the standard output; null when it is not a terminal. */
  readonly width: number | null;
  machine(): Promise<Machine>;
  workspace(): Promise<Workspace>;
  /** Absolute: the one that `--workspace` names, else the current one. Need not be a repository. */
  readonly directory: string;
  /** Loads next to nothing, unlike `machine`. */
  keeper(): Promise<KeepSupervisor>;
  /** A command to type next, with `--workspace` when it would not find the repository without. */
  command(line: string): string;
  /** One JSON document on one line. */
  printJson(value: unknown): void;
  print(text: string): void;
}
