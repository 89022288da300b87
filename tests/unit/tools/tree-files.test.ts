import { expect, test } from 'vitest';
import { makeTreeFiles, type TreeOps } from '../../../src/tools/index.ts';

test('a tree binds the operations of the platform to its root, and makes folders before it writes', async () => {
  const log: string[] = [];
  const note = (line: string): void => {
    log.push(line);
  };
  const ops: TreeOps = {
    realInside: async (root, path) => `${root}:${path}`,
    readInside: async (root, path, { offset, length, sizeMax }) => {
      note(`read ${root} ${path} ${offset}+${length} ${sizeMax}`);
      return { bytes: new Uint8Array(1), size: 9 };
    },
    writeInside: async (root, path, bytes) => {
      note(`write ${root} ${path} ${bytes.length}`);
    },
    makeDirectoriesInside: async (root, path) => {
      note(`folders ${root} ${path}`);
    },
    statInside: async () => null,
    listInside: async () => [{ name: 'a', kind: 'file' }],
  };
  const tree = makeTreeFiles('/t', ops);
  expect(await tree.real('a')).toBe('/t:a');
  expect(await tree.read('a', 5)).toEqual({ bytes: new Uint8Array(1), size: 9 });
  await tree.read('a', 5, 7);
  await tree.write('a/b/c', new Uint8Array(2));
  await tree.write('c', new Uint8Array(3));
  expect(await tree.list('')).toEqual([{ name: 'a', kind: 'file' }]);
  expect(log).toEqual([
    'read /t a 0+5 5',
    'read /t a 7+5 5',
    'folders /t a/b',
    'write /t a/b/c 2',
    'write /t c 3',
  ]);
});
