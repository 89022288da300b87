/** The sandbox of this machine, tried out in the layout of this repository (permissions §2.14). */
import { dirname } from 'node:path';
import type { Io } from '../cli/index.ts';
import type { Places } from '../control/index.ts';
import type { SandboxReport } from '../kernel/index.ts';
import { probeSandbox, socketPathFor } from '../platform/index.ts';
import type { RunFile } from '../protocol/index.ts';
import type { MachineSandbox } from '../supervisor/index.ts';
import { commandEnvironment } from './environment.ts';

export async function sandboxOf(
  io: { readonly env: Io['env'] },
  places: Places,
): Promise<MachineSandbox> {
  const socket = await socketPathFor(places.gitDir, io.env).catch(() => null);
  const closed = [places.trees, places.userConfig, ...(socket === null ? [] : [dirname(socket)])];
  const report = await probeSandbox(
    {
      profile: 'actor',
      // Read-only: the layout is what counts, and nothing is made for it.
      tree: places.workspace,
      writable: false,
      workspace: places.workspace,
      gitDirectory: places.gitDir,
      closed: [places.state, ...closed],
      protect: [],
      setAside: '',
      read: [],
      write: [],
    },
    commandEnvironment(io.env),
  );
  return { report, closed };
}

/** For `status`: one word. */
export function sandboxName(report: SandboxReport): string {
  return report.level === 0 ? 'none' : `level ${report.level}`;
}

/** For people, of one run. */
export function sandboxText(report: SandboxReport, { team }: RunFile): string {
  if (team.sandbox?.mode === 'off') return 'sandbox off: commands run with your rights';
  return report.level === 0
    ? 'no sandbox: commands run with your rights'
    : `sandbox: ${report.detail}${hostsText(team.sandbox?.network?.allow ?? [])}`;
}

function hostsText(hosts: readonly string[]): string {
  if (hosts.length === 0) return '';
  const more = hosts.length > 3 ? ` and ${hosts.length - 3} more` : '';
  return ` but ${hosts.slice(0, 3).join(', ')}${more}`;
}
