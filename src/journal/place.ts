/** Finding where a record lies, and whether it still lies there. */
import type { Files } from '../kernel/index.ts';
import type { JournalLimits } from './limits.ts';
import type { RecordView } from './record.ts';
import { LF, readTrailer, TRAILER_BYTES } from './record.ts';
import type { ScanSink } from './scan.ts';
import { Scanner } from './scan.ts';
import type { SegmentHead } from './segment.ts';
import { listSegments, segmentOf } from './segment.ts';
import type { Source } from './source.ts';
import { openSource } from './source.ts';
import type { RecordPlace } from './waiting.ts';
import { Walk } from './walk.ts';

export interface FindOptions {
  readonly files: Files;
  readonly directory: string;
  readonly limits: JournalLimits;
  readonly seq: number;
}

const HEAD_BYTES_MAX = 4096;

/** Right behind record `seq`, from the files. Throws when it is in none, or not intact. */
export async function findPlace(options: FindOptions): Promise<RecordPlace> {
  const { files, directory, seq } = options;
  const names = await listSegments(files, directory);
  for (const file of names.toReversed()) {
    const source = await openSource(files, `${directory}/${file}`);
    try {
      const head = await readHeadOf(source, options.limits);
      if (head === null || head.firstSeq > seq) continue;
      const place = await placeIn(source, file, options);
      if (place !== null) return place;
      break;
    } finally {
      await source.close();
    }
  }
  throw new Error(`record ${seq} is not where it should be`);
}

/** Whether a record with this crc ends right before `offset`. */
export async function endsThere(
  source: Source,
  place: { offset: number; crc: number },
): Promise<boolean> {
  const length = TRAILER_BYTES + 1;
  if (place.offset < length) return false;
  const bytes = await source.read(place.offset - length, length);
  return bytes[TRAILER_BYTES] === LF && readTrailer(bytes, TRAILER_BYTES) === place.crc;
}

/** The head of a segment and its seq; null when it is not intact. */
export async function readHeadOf(
  source: Source,
  limits: JournalLimits,
): Promise<{ head: SegmentHead; firstSeq: number } | null> {
  const found: { head: SegmentHead; firstSeq: number }[] = [];
  let last: SegmentHead | null = null;
  const sink: ScanSink = {
    record: (view) => {
      if (last !== null) found.push({ head: last, firstSeq: view.s });
    },
    damage: () => undefined,
    head: (head) => {
      last = head;
    },
  };
  const probe = new Scanner(sink, { ...limits, adopt: true });
  const bytes = await source.read(0, HEAD_BYTES_MAX);
  const lineEnd = bytes.indexOf(LF);
  if (lineEnd >= 0) probe.push(bytes.subarray(0, lineEnd + 1));
  return found[0] ?? null;
}

async function placeIn(
  source: Source,
  file: string,
  options: FindOptions,
): Promise<RecordPlace | null> {
  const { limits, seq } = options;
  const found: RecordPlace[] = [];
  const record = (view: RecordView): void => {
    if (view.s !== seq) return;
    const bytes = view.end - view.start + TRAILER_BYTES + 1;
    const { offset, line: lines, crc } = scanner;
    found.push({ segment: segmentOf(file) ?? 0, offset: offset + bytes, lines, crc });
  };
  const sink: ScanSink = { record, damage: () => undefined, head: () => undefined };
  const scanner = new Scanner(sink, { ...limits, adopt: true });
  scanner.beginSegment(file);
  const walk = new Walk(source, limits);
  while (found.length === 0 && (await walk.step(scanner)) === 'more');
  const place = found[0];
  return place !== undefined && (await endsThere(source, place)) ? place : null;
}
