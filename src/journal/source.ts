/** Reading a segment, plain or packed; and packing one. Nothing outside sees the difference. */
import type { Files } from '../kernel/index.ts';
import { isPacked } from './segment.ts';

export interface Source {
  read(position: number, length: number): Promise<Uint8Array>;
  size(): Promise<number>;
  close(): Promise<void>;
  /** False: packed bytes are damaged, and what is behind the damage can't be read. */
  readonly whole: boolean;
}

/** A packed segment that grows past this when it is unpacked is taken for damaged there. */
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

/** Rejects with the file system's error. */
export async function openSource(files: Files, path: string): Promise<Source> {
  if (isPacked(path)) return sourceOf(await unpack(await files.readFile(path)));
  const handle = await files.open(path, 'read');
  return {
    read: (position, length) => handle.read(position, length),
    size: () => handle.size(),
    close: () => handle.close(),
    whole: true,
  };
}

function sourceOf(content: { bytes: Uint8Array; whole: boolean }): Source {
  const { bytes, whole } = content;
  return {
    read: async (position, length) => bytes.subarray(position, position + length),
    size: async () => bytes.length,
    close: async () => undefined,
    whole,
  };
}

/** As gzip, by the platform's web streams, which need no Node. */
export async function pack(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = await through(new CompressionStream('gzip'), bytes, Number.POSITIVE_INFINITY);
  if (packed.error !== null) throw packed.error;
  return packed.bytes;
}

/** As far as it is intact. */
export async function unpack(bytes: Uint8Array): Promise<{ bytes: Uint8Array; whole: boolean }> {
  const found = await through(new DecompressionStream('gzip'), bytes, UNPACKED_BYTES_MAX);
  return { bytes: found.bytes, whole: found.error === null };
}

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; error: Error | null }> {
  const writer = stream.writable.getWriter();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let error: Error | null = null;
  // The reader below meets the same error.
  const fed = writer.write(bytes).then(() => writer.close());
  fed.catch(() => undefined);
  const reader = stream.readable.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const chunk: unknown = value;
      if (!(chunk instanceof Uint8Array)) continue;
      length += chunk.length;
      if (length > bytesMax) throw new RangeError(`it unpacks to more than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown : new Error(String(thrown));
  }
  return { bytes: joined(chunks), error };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
