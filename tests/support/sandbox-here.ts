/** Whether this machine can hold commands in a sandbox; tests that need one skip with the reason. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeSandbox } from '../../src/platform/index.ts';

/** Why the tests of the sandbox cannot run here; null when they can. */
export async function noSandboxHere(): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-probe-'));
  try {
    const report = await probeSandbox(
      {
        profile: 'actor',
        tree: folder,
        writable: true,
        workspace: folder,
        gitDirectory: folder,
        closed: [],
        protect: [],
        setAside: '',
        read: [],
        write: [],
      },
      { PATH: '/usr/bin:/bin', HOME: folder },
    );
    return report.level === 0 ? `${report.detail}; ${report.install ?? ''}` : null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
