/** Layers from their files: whose files count, and what becomes of one that can't be used any more. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LayerSources, loadLayers, reloadLayers } from '../../../src/control/policy-layers.ts';
import { NodeFiles, sha256Hex } from '../../../src/platform/index.ts';

const deps = { files: new NodeFiles(), sha256: sha256Hex };
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-layers-'));
  mkdirSync(join(folder, 'admin'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const policy = (id: string, effect: string): string =>
  `version: 1\nrules: [{ id: ${id}, effect: ${effect}, tool: bash, argv: [x1] }]\n`;

function sources(over: Partial<LayerSources['places']> = {}): LayerSources {
  return {
    named: null,
    places: {
      admin: join(folder, 'admin'),
      user: join(folder, 'user.yaml'),
      project: join(folder, 'project.yaml'),
      ownedByAdmin: () => true,
      ...over,
    },
    isTrusted: () => false,
    team: null,
    pinned: () => Promise.resolve({}),
  };
}

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

test('P3: administrator, user, repository, in this order; the repository is not trusted by itself', async () => {
  write('admin/b.yaml', policy('b', 'ask'));
  write('admin/a.yaml', policy('a', 'ask'));
  write('admin/README', 'no policy');
  write('user.yaml', policy('u', 'allow'));
  write('project.yaml', policy('p', 'allow'));
  const { snapshot } = await loadLayers(deps, sources());
  expect(snapshot.layers.map(({ name, trusted }) => [name, trusted])).toEqual([
    ['admin', true],
    ['admin', true],
    ['user', true],
    ['project', false],
  ]);
});

test.each(['the file', 'the folder'])(
  '%s of the administrator that others may write is refused aloud',
  async (what) => {
    write('admin/a.yaml', policy('a', 'allow'));
    const bad = join(folder, what === 'the file' ? 'admin/a.yaml' : 'admin');
    const loading = loadLayers(deps, sources({ ownedByAdmin: (path) => path !== bad }));
    await expect(loading).rejects.toMatchObject({
      code: 'control/policy',
      exit: 2,
      message: expect.stringContaining(`${bad} belongs to the administrator's policy`),
    });
  },
);

test('P20: what breaks or vanishes stands as it was, trusted no more, under another revision; mended, all is as before', async () => {
  write('user.yaml', policy('u', 'allow'));
  const { snapshot: first } = await loadLayers(deps, sources());
  for (const harm of [
    () => write('user.yaml', 'rules: ['),
    () => rmSync(join(folder, 'user.yaml')),
  ]) {
    harm();
    const { snapshot } = await reloadLayers(deps, sources(), first);
    expect(snapshot.revision).not.toBe(first.revision);
    expect(snapshot.layers).toEqual([
      { ...first.layers[0], trusted: false, problem: expect.stringContaining('user.yaml') },
    ]);
    write('user.yaml', policy('u', 'allow'));
    const { snapshot: mended } = await reloadLayers(deps, sources(), snapshot);
    expect(mended).toEqual(first);
  }
});
