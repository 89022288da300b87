/**
 * Vitest globalSetup of the projects that run built code: makes `dist/` current, or fails at once.
 * A stale or missing dist would otherwise show as time-outs of threads that cannot load.
 * Tests find the build by `inject('dist')`.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly dist: string;
  }
}

export default function setup(project: TestProject): void {
  const script = fileURLToPath(new URL('../../scripts/prepare.mjs', import.meta.url));
  const built = spawnSync(process.execPath, [script, '--required'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  project.provide('dist', fileURLToPath(new URL('../../dist/', import.meta.url)));
}
