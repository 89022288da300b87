/**
 * The way to a file below a root, one component at a time, so that nobody who exchanges a folder for a link on the way
 * can lead it outside. `safe-open.ts` does the work at its end.
 *
 * Linux: each folder is opened through the descriptor of the one before (`/proc/self/fd/<n>/<name>`, as `openat` does)
 * with O_NOFOLLOW, so what was judged is what is used. Elsewhere folders are named by path and the way is checked again
 * afterwards (`recheck`), which makes an exchange noticed rather than impossible.
 *
 * Links inside the root that stay inside are followed: their target is walked from where they lie, with the same rules.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { systemCode, type TroupeError } from '../kernel/errors.ts';
import { platformError } from './errors.ts';
import { LINKS_MAX, PATH_PARTS_MAX } from './limits.ts';

/** The folder that holds the last component, open. Close it. */
export interface Place {
  /** The folder, usable with any call that takes a path. */
  readonly folder: string;
  /** The last component; '' when the path is the root itself. */
  readonly name: string;
  /** `folder/name`. */
  readonly path: string;
  /** lstat of it, never a link; null when there is nothing. */
  readonly stat: Stats | null;
  /** Throws `path/changed` when the folder is no longer where it was found. */
  recheck(): void;
  close(): void;
}

export interface WalkRequest {
  /** Absolute; trusted, and may itself be a link. */
  readonly root: string;
  /** What was given: below the root, or an absolute path that lies there. */
  readonly relative: string;
  /**
   * `fail` when a folder on the way is missing; `make` walks *into* the last component and makes every folder that is
   * missing, the last one too.
   */
  readonly missing: 'fail' | 'make';
}

export function walk(request: WalkRequest): Place {
  const walker = new Walker(request.root, request.relative);
  try {
    return walker.run(request.missing);
  } catch (error) {
    walker.close();
    throw namedPathError(error, request.relative);
  }
}

const THROUGH_DESCRIPTORS = process.platform === 'linux';
const FOLDER_FLAGS: number =
  constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Folder {
  readonly descriptor: number;
  /** Real path; for messages and for platforms without descriptors as paths. */
  readonly real: string;
}

class Walker {
  readonly #given: string;
  readonly #rootReal: string;
  readonly #rootGiven: string;
  /** From the root to where we are. */
  readonly #way: Folder[] = [];
  #open: string[];
  #links = 0;

  constructor(root: string, given: string) {
    this.#given = given;
    this.#rootGiven = root;
    try {
      this.#rootReal = realpathSync(root);
      const flags = constants.O_RDONLY | constants.O_DIRECTORY;
      this.#way.push({ descriptor: openSync(this.#rootReal, flags), real: this.#rootReal });
    } catch (error) {
      throw namedPathError(error, given);
    }
    this.#open = [];
  }

  run(missing: 'fail' | 'make'): Place {
    this.#open = this.#partsOf(this.#given);
    for (let next = this.#open.shift(); next !== undefined; next = this.#open.shift()) {
      if (next === '..') this.#up();
      else {
        const path = this.#at(next);
        const stat = lstatOrNull(path);
        if (stat?.isSymbolicLink() === true) this.#follow(path);
        else if (this.#open.length === 0 && missing === 'fail') return this.#place(next, stat);
        else this.#down(next, stat, missing);
      }
    }
    return this.#place('', fstatSync(this.#here().descriptor));
  }

  close(): void {
    for (const folder of this.#way.splice(0)) closeSync(folder.descriptor);
  }

  #place(name: string, stat: Stats | null): Place {
    const here = this.#here();
    const folder = pathOf(here);
    return {
      folder,
      name,
      path: name === '' ? folder : join(folder, name),
      stat,
      recheck: () => {
        this.#recheck(here);
      },
      close: () => {
        this.close();
      },
    };
  }

  #recheck(here: Folder): void {
    if (THROUGH_DESCRIPTORS) return;
    const [held, named] = [fstatSync(here.descriptor), lstatOrNull(here.real)];
    const same = named !== null && held.ino === named.ino && held.dev === named.dev;
    if (same && realpathSync(here.real) === here.real) return;
    throw platformError({
      code: 'path/changed',
      message: `${this.#given} was moved or exchanged while it was being opened`,
      data: { path: this.#given },
      retryable: true,
    });
  }

  #here(): Folder {
    const here = this.#way.at(-1);
    if (here === undefined) throw this.#outside();
    return here;
  }

  #at(name: string): string {
    return join(pathOf(this.#here()), name);
  }

  #up(): void {
    const left = this.#way.length > 1 ? this.#way.pop() : undefined;
    if (left === undefined) throw this.#outside();
    closeSync(left.descriptor);
  }

  #down(name: string, stat: Stats | null, missing: 'fail' | 'make'): void {
    const path = this.#at(name);
    if (stat === null) {
      if (missing === 'fail') throw this.#error('path/not-found', 'does not exist');
      makeFolder(path);
    } else if (!stat.isDirectory()) {
      throw this.#error('path/not-a-directory', `goes through ${name}, which is no directory`);
    }
    if (this.#way.length >= PATH_PARTS_MAX) throw this.#error('path/invalid', 'is too deep');
    const descriptor = openSync(path, FOLDER_FLAGS);
    this.#way.push({ descriptor, real: join(this.#here().real, name) });
    this.#recheck(this.#here());
  }

  #follow(path: string): void {
    this.#links += 1;
    if (this.#links > LINKS_MAX) throw this.#error('path/too-many-links', 'has too many links');
    const target = readlinkSync(path);
    if (!isAbsolute(target)) {
      this.#open.unshift(...split(target));
      return;
    }
    const inside = this.#insideParts(target);
    if (inside === null) throw this.#outside();
    for (const folder of this.#way.splice(1)) closeSync(folder.descriptor);
    this.#open.unshift(...inside);
  }

  /** `..` is refused in what a model wrote, not only where it would leave the root: nobody needs it. */
  #partsOf(given: string): string[] {
    if (given.includes('\0')) throw this.#error('path/invalid', 'holds a NUL character');
    const parts = isAbsolute(given) ? this.#insideParts(given) : split(given);
    if (parts === null || parts.includes('..')) throw this.#outside();
    if (parts.length > PATH_PARTS_MAX) throw this.#error('path/invalid', 'is too deep');
    return parts;
  }

  /** The part of an absolute path below the root; null when it does not lie there. */
  #insideParts(path: string): string[] | null {
    for (const root of [this.#rootGiven, this.#rootReal]) {
      const parts = split(root);
      const wanted = split(path);
      if (parts.every((part, index) => wanted[index] === part)) return wanted.slice(parts.length);
    }
    return null;
  }

  #outside(): TroupeError {
    return this.#error('path/outside', `lies outside ${this.#rootGiven}`);
  }

  #error(code: Parameters<typeof platformError>[0]['code'], what: string): TroupeError {
    return platformError({ code, message: `${this.#given} ${what}`, data: { path: this.#given } });
  }
}

function pathOf(folder: Folder): string {
  return THROUGH_DESCRIPTORS ? `/proc/self/fd/${String(folder.descriptor)}` : folder.real;
}

/** Components without empty ones and dots. */
function split(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function makeFolder(path: string): void {
  // Made by somebody else at the same time: what is there is looked at when it is opened.
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** System errors of file operations as `path/…`; anything else as it is. */
export function namedPathError(error: unknown, given: string): unknown {
  const system = systemCode(error);
  const known = SYSTEM_ERRORS[system];
  if (known === undefined) return error;
  const [code, what] = known;
  return platformError({
    code,
    message: `${given} ${what} (${system})`,
    data: { path: given, system },
    cause: error,
  });
}

const SYSTEM_ERRORS: Readonly<
  Record<string, readonly [Parameters<typeof platformError>[0]['code'], string]>
> = {
  ENOENT: ['path/not-found', 'does not exist'],
  ENOTDIR: ['path/not-a-directory', 'goes through something that is no directory'],
  ELOOP: ['path/changed', 'became a link while it was being opened'],
  EISDIR: ['path/not-a-file', 'is a directory'],
  ENXIO: ['path/not-a-file', 'is no regular file'],
  ENODEV: ['path/not-a-file', 'is no regular file'],
  EEXIST: ['path/exists', 'exists already'],
  EACCES: ['path/denied', 'may not be accessed'],
  EPERM: ['path/denied', 'may not be accessed'],
  EROFS: ['path/denied', 'lies on a read-only file system'],
  ENAMETOOLONG: ['path/invalid', 'has a name that is too long'],
  EMFILE: ['path/failed', 'could not be opened: too many open files'],
  ENOSPC: ['path/failed', 'could not be written: the disk is full'],
  EDQUOT: ['path/failed', 'could not be written: the quota is used up'],
  EIO: ['path/failed', 'could not be accessed: the disk failed'],
};
