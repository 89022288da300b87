/** Builds the proofs on a copy of the source with edits in it, and loads them. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsdown';
import type { Exploration, Mutate } from './explorer.ts';
import type { Edit } from './patches.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Proofs {
  readonly journal: (seed: string, statesMax: number) => Promise<Exploration>;
  readonly mail: (seed: string, statesMax: number) => Promise<Exploration>;
  readonly rot: (seed: string, statesMax: number) => Promise<Exploration>;
}

/** Throws when an edit does not fit the source exactly once, or its file is no part of the proofs. */
export async function buildMutated(edits: readonly Edit[]): Promise<Proofs> {
  // Inside the project, so that the bundle finds its packages.
  const parent = join(root, 'node_modules', '.troupe-sim');
  await mkdir(parent, { recursive: true });
  const outDir = mkdtempSync(join(parent, 'mutant-'));
  const left = new Set(edits);
  try {
    await build({
      config: false,
      cwd: root,
      entry: {
        journal: 'tests/sim/journal/explorer.ts',
        mail: 'tests/sim/journal/mail-explorer.ts',
        rot: 'tests/sim/journal/rot.ts',
      },
      outDir,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      dts: false,
      fixedExtension: false,
      logLevel: 'silent',
      plugins: [{ name: 'mutate', load: (id: string) => loadEdited(id, left) }],
    });
    if (left.size > 0) throw new Error(`not built: ${[...left].map(({ file }) => file).join()}`);
    const faithful: Mutate = (files) => files;
    const journal = (await load(outDir, 'journal'))['explore'] as Explore;
    const mail = (await load(outDir, 'mail'))['exploreMail'] as Explore;
    const rot = (await load(outDir, 'rot'))['exploreRot'] as Proofs['rot'];
    return {
      journal: (seed, statesMax) => journal(seed, faithful, statesMax),
      mail: (seed, statesMax) => mail(seed, faithful, statesMax),
      rot,
    };
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

type Explore = (seed: string, mutate: Mutate, statesMax: number) => Promise<Exploration>;

async function load(outDir: string, name: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(join(outDir, `${name}.js`)).href;
  return (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
}

function loadEdited(id: string, left: Set<Edit>): { code: string; moduleType: 'ts' } | null {
  const file = relative(root, id);
  const here = [...left].filter((edit) => edit.file === file);
  if (here.length === 0) return null;
  let code = readFileSync(id, 'utf8');
  for (const edit of here) {
    const times = code.split(edit.anchor).length - 1;
    if (times !== 1) throw new Error(`${file} has the anchor ${times} times: ${edit.anchor}`);
    code = code.replace(edit.anchor, () => edit.instead);
    left.delete(edit);
  }
  return { code, moduleType: 'ts' };
}
