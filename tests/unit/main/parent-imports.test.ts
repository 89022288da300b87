/** The parent of a supervisor loads neither models nor schemas: hardly anything can take it down. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

/** All that is loaded with a module; what is imported for its types alone is not. */
function loadedWith(entry: string): {
  readonly files: Set<string>;
  readonly packages: Set<string>;
} {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [resolve(SRC, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const text = readFileSync(file, 'utf8');
    const found = text.matchAll(/^(?:import|export)\s(?!type\b)(?:[^'";=(]*\sfrom\s)?'([^']+)';/gm);
    for (const [, specifier = ''] of found) {
      if (specifier.startsWith('.')) open.push(resolve(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
  }
  return { files, packages };
}

test('the parent loads no package, and of the rooms only kernel and the log', () => {
  const { files, packages } = loadedWith('main/parent.ts');
  expect([...packages]).toEqual([]);
  const rooms = [...files].map((file) => file.slice(SRC.length).split('/')[0]);
  expect(new Set(rooms)).toEqual(new Set(['kernel', 'main', 'platform']));
  expect(files.size).toBeLessThan(20);
  // The search does find what others load.
  expect(loadedWith('main/resident.ts').packages).toContain('zod');
});
