/** What of the machine's sandbox a run gets: its team may turn it off, or require it. */
import { EXIT, type SandboxReport, TroupeError } from '../kernel/index.ts';
import type { RunFile } from '../protocol/index.ts';
import type { Repository } from '../worktree/index.ts';
import type { RunSandbox } from './effects/commands.ts';

export interface MachineSandbox {
  readonly report: SandboxReport;
  /** Folders that no command may see. */
  readonly closed: readonly string[];
}

/** P22: nothing starts with fewer walls than its team asks for. */
export function requireSandbox(file: RunFile, report: SandboxReport | undefined): void {
  if (file.team.sandbox?.mode !== 'required' || (report?.level ?? 0) > 0) return;
  const install = report?.install ?? null;
  throw new TroupeError({
    code: 'run/no-sandbox',
    message: `This team requires a sandbox, and there is none: ${report?.detail ?? 'no sandbox is known'}`,
    hint:
      install === null
        ? 'Write `sandbox: auto` to run without one.'
        : `Type: ${install}\n(or write \`sandbox: auto\` to run without one)`,
    exit: EXIT.usage,
  });
}

export function sandboxOf(
  file: RunFile,
  on: {
    readonly sandbox?: MachineSandbox;
    readonly repository: Pick<Repository, 'commonDir'>;
    readonly directory: string;
  },
): { readonly level: number; readonly commands: RunSandbox | null } {
  const { sandbox, repository, directory } = on;
  const settings = file.team.sandbox;
  if (sandbox === undefined || sandbox.report.level === 0 || settings?.mode === 'off') {
    return { level: 0, commands: null };
  }
  const treesOfAll = file.treesRoot.slice(0, file.treesRoot.lastIndexOf('/'));
  const hosts = settings?.network?.allow ?? [];
  return {
    // Without a host to reach the network is off, which is level 2.
    level: hosts.length > 0 ? sandbox.report.level : Math.min(sandbox.report.level, 2),
    commands: {
      workspace: file.workspace,
      gitDirectory: repository.commonDir,
      closed: [directory, treesOfAll, ...sandbox.closed],
      read: settings?.read ?? [],
      write: settings?.write ?? [],
      hosts,
    },
  };
}
