/** Builds TypeScript files of the tests, with the sources that they import, and loads them: for the long proofs, which run without vitest. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsdown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `entry`: path from the root, by name; the modules come by the same names. */
export async function bundle(entry, { logLevel = 'warn', plugins = [] } = {}) {
  // Inside the project, so that the bundle finds its packages.
  const parent = join(root, 'node_modules', '.troupe-sim');
  mkdirSync(parent, { recursive: true });
  const outDir = mkdtempSync(join(parent, 'bundle-'));
  try {
    await build({
      config: false,
      cwd: root,
      entry,
      outDir,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      dts: false,
      fixedExtension: false,
      logLevel,
      plugins,
    });
    const modules = {};
    for (const name of Object.keys(entry)) {
      modules[name] = await import(pathToFileURL(join(outDir, `${name}.js`)).href);
    }
    return modules;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}
