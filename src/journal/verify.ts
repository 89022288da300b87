/** The doctor's look at a journal: everything that is not as a writer left it, by file and line. Changes nothing. */
import { counted } from '../kernel/counted.ts';
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import type { JournalLimits } from './limits.ts';
import { withDefaults } from './limits.ts';
import type { RecordView } from './record.ts';
import { tryReadRecord } from './record.ts';
import type { Damage, ScanSink, TornTail } from './scan.ts';
import { Scanner } from './scan.ts';
import type { HeadExpectation, SegmentHead } from './segment.ts';
import { checkHead, isBase, isPacked, listSegments } from './segment.ts';
import { openSource } from './source.ts';
import { walkFile } from './walk.ts';

export type JournalProblemKind =
  /** Harmless: was never acknowledged; the next start sets it aside. Normal for a moment beside a writer. */
  | 'torn-tail'
  /** Acknowledged records are lost. */
  | 'gap'
  /** Bytes that should not be there; no record is lost. */
  | 'junk'
  /** Harmless: the last line misses its line feed. */
  | 'no-line-feed'
  /** Harmless: something rewrote line ends to CR LF. */
  | 'line-endings'
  | 'foreign-log'
  | 'newer-version'
  | 'missing';

export interface JournalProblem {
  readonly kind: JournalProblemKind;
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  /** One sentence for people. */
  readonly detail: string;
}

export interface VerifyReport {
  /** Nothing that was acknowledged is damaged, and this version can write on. */
  readonly ok: boolean;
  readonly log: string;
  readonly name: string;
  readonly segments: number;
  readonly records: number;
  readonly lastSeq: number;
  readonly watermark: number;
  readonly problems: readonly JournalProblem[];
}

/** `from` names who says so; `seq` 0: nobody says anything. */
export interface KnownSeq {
  readonly seq: number;
  readonly from: string;
}

export interface VerifyJournalOptions {
  readonly files: Files;
  readonly directory: string;
  /** The name its heads must carry; any when left out. */
  readonly name?: string | undefined;
  /** What something beside the journal says was recorded and durable; asked before the journal is read. */
  readonly known?: KnownSeq | undefined;
  readonly limits?: Partial<JournalLimits> | undefined;
}

const HARMLESS = new Set<JournalProblemKind>(['torn-tail', 'no-line-feed', 'line-endings']);

/** Rejects only for errors of the file system. */
export async function verifyJournal(options: VerifyJournalOptions): Promise<VerifyReport> {
  const limits = withDefaults(options.limits);
  const names = await listSegments(options.files, options.directory);
  const findings = new Findings(options.directory, options.name ?? null);
  const scanner = new Scanner(findings, { ...limits, adopt: isBase(names[0] ?? '') });
  findings.scanner = scanner;
  for (const [index, file] of names.entries()) {
    if (index > 0) scanner.endSegment();
    await checkSegment(scanner, file, { ...options, limits, findings });
  }
  if (isPacked(names.at(-1) ?? '')) scanner.endPacked();
  const torn = names.length === 0 ? null : scanner.endLast();
  const known = options.known ?? { seq: 0, from: '' };
  if (known.seq >= scanner.next) findings.lostEnd(scanner, torn, known);
  else if (torn !== null) findings.torn(torn);
  if (names.length === 0) findings.add('missing', { file: '', line: 0, offset: 0 }, noJournal);
  return {
    ok: findings.problems.every((problem) => HARMLESS.has(problem.kind)),
    log: findings.expected.log ?? '',
    name: findings.expected.name ?? '',
    segments: names.length,
    records: findings.records,
    lastSeq: scanner.next - 1,
    watermark: scanner.watermark,
    problems: findings.problems,
  };
}

const noJournal = 'There is no journal here.';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
}

class Findings implements ScanSink {
  readonly problems: JournalProblem[] = [];
  readonly expected: HeadExpectation;
  records = 0;
  scanner: Scanner | null = null;
  /** Files that are no part of this journal: what else is wrong in them says nothing of it. */
  #refused: Set<string> = new Set();

  constructor(directory: string, name: string | null) {
    this.expected = { directory, log: null, name };
  }

  add(kind: JournalProblemKind, place: Place, detail: string): void {
    const { file, line, offset } = place;
    this.problems.push({ kind, file, line, offset, detail });
  }

  record(view: RecordView): void {
    this.records += 1;
    if (tryReadRecord(view) !== null) return;
    const { file, line, offset } = this.scanner ?? { file: '', line: 0, offset: 0 };
    this.add('junk', { file, line, offset }, `Record ${view.s} is no JSON although its crc fits.`);
  }

  damage(damage: Damage): void {
    const { fromSeq, toSeq, bytes, cause, file } = damage;
    if (this.#refused.has(file)) return;
    if (toSeq < fromSeq) {
      const where = fromSeq === 1 ? 'at the start' : `after record ${fromSeq - 1}`;
      this.add('junk', damage, `${bytes} bytes ${where} are no part of the log (${cause}).`);
      return;
    }
    const how = bytes === 0 ? 'no file holds what was there' : `${bytes} damaged bytes`;
    this.add('gap', damage, `${lostRecords(fromSeq, toSeq)} lost (${cause}, ${how}).`);
  }

  /** The end of the log is cut away or damaged, and something beside it knows that more was durable. */
  lostEnd(scanner: Scanner, torn: TornTail | null, known: KnownSeq): void {
    const { file, line, offset, next } = scanner;
    if (this.#refused.has(file)) return;
    const how = torn === null ? 'ends before' : 'is damaged';
    const where = torn === null ? 'them' : 'from here on';
    const detail = `${lostRecords(next, known.seq)} lost: the log ${how} ${where}, but ${known.from} tells of record ${known.seq}.`;
    this.add('gap', torn ?? { file, line, offset }, detail);
  }

  torn(torn: TornTail): void {
    if (this.#refused.has(torn.file)) return;
    const more = torn.records === 0 ? '' : `, ${torn.records} intact records behind it`;
    const detail = `The log ends in the middle of record ${torn.fromSeq}${more}; it was never acknowledged.`;
    this.add('torn-tail', torn, detail);
  }

  head(head: SegmentHead, file: string): void {
    const error = checkHead(head, file, this.expected);
    if (error === null) return;
    const kind = error.code === 'journal/newer-version' ? 'newer-version' : 'foreign-log';
    this.#refused.add(file);
    const detail = error.message.replace(`${this.expected.directory}/${file}`, 'The file');
    this.add(kind, { file, line: 1, offset: 0 }, detail);
  }
}

function lostRecords(fromSeq: number, toSeq: number): string {
  return fromSeq === toSeq ? `Record ${fromSeq} is` : `Records ${fromSeq} to ${toSeq} are`;
}

async function checkSegment(
  scanner: Scanner,
  file: string,
  options: VerifyJournalOptions & { limits: JournalLimits; findings: Findings },
): Promise<void> {
  const { findings, limits } = options;
  const crlfBefore = scanner.crlfLines;
  scanner.beginSegment(file);
  const rest = await readSegment(scanner, file, { ...options, limits });
  if (rest === null) return;
  const { line, offset } = scanner;
  if (scanner.pushUnterminated(rest)) {
    findings.add('no-line-feed', { file, line, offset }, 'The last line misses its line feed.');
  }
  const crlf = scanner.crlfLines - crlfBefore;
  if (crlf > 0) {
    findings.add(
      'line-endings',
      { file, line: 1, offset: 0 },
      `${counted(crlf, 'line ends', 'lines end')} with CR LF.`,
    );
  }
}

/** Null when the file went while the doctor looked. */
async function readSegment(
  scanner: Scanner,
  file: string,
  options: VerifyJournalOptions & { limits: JournalLimits },
): Promise<Uint8Array | null> {
  try {
    const source = await openSource(options.files, `${options.directory}/${file}`);
    try {
      return await walkFile(source, scanner, options.limits);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return null;
  }
}
