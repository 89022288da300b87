/** Faults between the journal and the disk, each of which breaks one of its promises and must be caught. */
import type { FileHandle, Files } from '../../../src/kernel/index.ts';
import type { Mutate } from './explorer.ts';

/** Handles that differ from those of `files` in what `change` gives. */
function withHandles(
  files: Files,
  change: (handle: FileHandle, path: string) => Partial<FileHandle>,
): Pick<Files, 'open'> {
  return {
    open: async (path, mode) => {
      const handle = await files.open(path, mode);
      return { ...plain(handle), ...change(handle, path) };
    },
  };
}

function plain(handle: FileHandle): FileHandle {
  return {
    write: (bytes) => handle.write(bytes),
    read: (position, length) => handle.read(position, length),
    datasync: () => handle.datasync(),
    truncate: (size) => handle.truncate(size),
    size: () => handle.size(),
    close: () => handle.close(),
  };
}

function plainFiles(files: Files): Files {
  return {
    open: (path, mode) => files.open(path, mode),
    readFile: (path) => files.readFile(path),
    stat: (path) => files.stat(path),
    list: (path) => files.list(path),
    makeDirectory: (path) => files.makeDirectory(path),
    rename: (from, to) => files.rename(from, to),
    link: (from, to) => files.link(from, to),
    remove: (path) => files.remove(path),
    syncDirectory: (path) => files.syncDirectory(path),
    watch: (path, onChange, signal) => files.watch(path, onChange, signal),
  };
}

const noop = async (): Promise<void> => undefined;

/** Syncs are told as done and never happen. */
const noDatasync: Mutate = (files) => ({
  ...plainFiles(files),
  ...withHandles(files, () => ({ datasync: noop })),
});

/** The acknowledgement goes out first; the sync follows with the next write. */
const ackBeforeSync: Mutate = (files) => ({
  ...plainFiles(files),
  ...withHandles(files, (handle) => {
    let owed = false;
    return {
      datasync: async () => {
        owed = true;
      },
      write: (bytes) => {
        if (owed) void handle.datasync();
        owed = false;
        return handle.write(bytes);
      },
    };
  }),
});

/** Entries of folders are never made durable. */
const noDirectorySync: Mutate = (files) => ({ ...plainFiles(files), syncDirectory: noop });

/** A torn tail stays where it is. */
const noTruncation: Mutate = (files) => ({
  ...plainFiles(files),
  ...withHandles(files, () => ({ truncate: noop })),
});

/** What a killed process left is taken for durable: where there are segments, no sync counts before the first write. */
const noResync: Mutate = (files) => {
  let skip = false;
  return {
    ...plainFiles(files),
    ...withHandles(files, (handle, path) => ({
      write: (bytes) => {
        if (path.endsWith('.jsonl')) skip = false;
        return handle.write(bytes);
      },
      datasync: () => (skip ? noop() : handle.datasync()),
    })),
    list: async (path) => {
      const names = await files.list(path);
      skip ||= names.some((name) => name.endsWith('.jsonl'));
      return names;
    },
    syncDirectory: (path) => (skip ? noop() : files.syncDirectory(path)),
  };
};

/** A short write is taken for a whole one. */
const shortWriteIgnored: Mutate = (files) => ({
  ...plainFiles(files),
  ...withHandles(files, (handle) => ({
    write: (bytes) => {
      handle.write(bytes.subarray(0, Math.max(1, bytes.length - 7)));
      return bytes.length;
    },
  })),
});

export interface Mutant {
  readonly mutate: Mutate;
  /** What the explorer must say of it. */
  readonly says: RegExp;
}

const LOST = /C1: (acknowledged record|gap)|after recovery|recovery failed|while it worked/;

export const mutants: Readonly<Record<string, Mutant>> = {
  'no fdatasync': { mutate: noDatasync, says: LOST },
  'acknowledged before the sync': { mutate: ackBeforeSync, says: LOST },
  'no sync of the folder': { mutate: noDirectorySync, says: LOST },
  'torn tail not cut': { mutate: noTruncation, says: LOST },
  'no re-sync after a kill': { mutate: noResync, says: LOST },
  'short write ignored': { mutate: shortWriteIgnored, says: LOST },
};

export const faithful: Mutate = (files) => files;
