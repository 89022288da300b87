/** One zip file of named texts, written beside its place and renamed: it is there whole or not at all. */
import { createWriteStream } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export interface ZipEntry {
  readonly name: string;
  readonly pieces: AsyncIterable<string>;
}

/** Readable for the owner alone. With `force` it replaces a file at `path`; else `EEXIST` when there is one. */
export async function writeZip(
  path: string,
  entries: AsyncIterable<ZipEntry>,
  options: { readonly force: boolean },
): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  const zip = new ZipFile();
  const written = pipeline(
    zip.outputStream,
    createWriteStream(beside, { flags: 'wx', mode: 0o600 }),
  );
  try {
    await Promise.all([written, addAll(zip, entries)]);
    if (options.force) await rename(beside, path);
    else await link(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

/** One after the other: the next text is opened when the one before it is written. */
async function addAll(zip: ZipFile, entries: AsyncIterable<ZipEntry>): Promise<void> {
  try {
    for await (const { name, pieces } of entries) {
      const stream = Readable.from(pieces, { objectMode: false });
      const done = new Promise<void>((resolve, reject) => {
        stream.on('close', () => resolve()).on('error', reject);
      });
      zip.addReadStream(stream, name, { mode: 0o600 });
      await done;
    }
    zip.end();
  } catch (thrown) {
    zip.outputStream.emit('error', thrown);
    throw thrown;
  }
}
