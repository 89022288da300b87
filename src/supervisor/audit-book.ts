/**
 * The key of the audit chains and their heads, in `audit/` beside the logs. A head says how far a log's chain had come; it is
 * written every `AUDIT_HEAD_STEP` records, at the start and at the end of a term.
 *
 * Invariants
 * - P51 A head is written only of what is durable. What comes after the last head of a term that was killed may be cut unseen.
 */
import {
  type Clock,
  ensureError,
  type Files,
  isoTime,
  type Logger,
  type Random,
  systemCode,
} from '../kernel/index.ts';
import {
  type AuditHead,
  type ChainKeys,
  type ChainTip,
  macOf,
  type Sha256,
} from '../permissions/index.ts';

export interface AuditBookDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly sha256: Sha256;
  /** `<common git directory>/troupe`. */
  readonly directory: string;
}

const encoder = new TextEncoder();

export class AuditBook {
  private readonly deps: AuditBookDeps;
  private readonly key: string;
  private mac: string;
  private line: Promise<void> = Promise.resolve();

  private constructor(deps: AuditBookDeps, key: string, mac: string) {
    this.deps = deps;
    this.key = key;
    this.mac = mac;
  }

  static async open(deps: AuditBookDeps): Promise<AuditBook> {
    const folder = `${deps.directory}/audit`;
    await deps.files.makeDirectory(folder);
    const key = await readOrMakeKey(deps, `${folder}/key`);
    const text = await readText(deps.files, `${folder}/heads.jsonl`);
    // What a cut write left is no line: the next one begins behind it.
    if (text !== '' && !text.endsWith('\n'))
      await append(deps.files, `${folder}/heads.jsonl`, '\n');
    return new AuditBook(deps, key, readHeads(text).at(-1)?.mac ?? '');
  }

  keysOf(log: string): ChainKeys {
    return { sha256: this.deps.sha256, log, key: this.key };
  }

  /** Never rejects: the log itself holds what was decided. */
  head(log: string, { n, hash }: ChainTip): Promise<void> {
    this.line = this.line.then(async () => {
      const { files, clock, directory, logger } = this.deps;
      const head = { log, n, hash, at: isoTime(clock.now()) };
      const mac = macOf(head, this.mac, { sha256: this.deps.sha256, key: this.key });
      try {
        await append(
          files,
          `${directory}/audit/heads.jsonl`,
          `${JSON.stringify({ ...head, mac })}\n`,
        );
        this.mac = mac;
      } catch (thrown) {
        logger.log('warn', 'a head of the audit chain could not be written', {
          cause: ensureError(thrown).message,
        });
      }
    });
    return this.line;
  }
}

/** Lines that are whole. */
export function readHeads(text: string): AuditHead[] {
  return text.split('\n').flatMap((line) => {
    try {
      const head = JSON.parse(line) as AuditHead;
      return typeof head.mac === 'string' && typeof head.log === 'string' ? [head] : [];
    } catch {
      return [];
    }
  });
}

const KEY_CHARS = 64;

async function readOrMakeKey(
  { files, random, sha256 }: AuditBookDeps,
  path: string,
): Promise<string> {
  const known = (await readText(files, path)).trim();
  if (/^[0-9a-f]{64}$/.test(known)) return known;
  const key = sha256(encoder.encode(random.id(KEY_CHARS)));
  await files.remove(path);
  const handle = await files.open(path, 'create');
  try {
    handle.write(encoder.encode(`${key}\n`));
    await handle.datasync();
  } finally {
    await handle.close();
  }
  return key;
}

async function readText(files: Files, path: string): Promise<string> {
  try {
    return new TextDecoder().decode(await files.readFile(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
}

async function append(files: Files, path: string, text: string): Promise<void> {
  const handle = await files.open(path, 'append');
  try {
    handle.write(encoder.encode(text));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
