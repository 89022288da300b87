/**
 * A conversation that was compacted: what of it is still said word for word, what stands in the place of the rest, and what
 * the next compaction would keep. Pure; the transcript itself is never changed.
 *
 * Invariants
 * - L24 A compaction begins and ends between two turns, so that no call is kept without its result.
 * - L25 What stands in the place of older turns is made of the compaction's entry and of what was recorded before it: it is
 *   the same text in every later request, and providers can cache it.
 */
import type {
  CompactionEntry,
  ContentBlock,
  MailItem,
  PlacedEntry,
  SessionEntry,
} from '../protocol/index.ts';
import {
  CUT_HEAD_CHARS,
  CUT_TAIL_CHARS,
  LETTERS_KEPT_MAX,
  NOTES_SHOWN_CHARS,
  OUTPUTS_SHOWN_MAX,
} from './limits.ts';
import { ownNotes, todoLines } from './notes.ts';

type ResultEntry = Extract<SessionEntry, { type: 'result' }>;

/** A chapter as requests are made from it. */
export interface ChapterView {
  /** The newest; null: nothing was compacted. */
  readonly compaction: CompactionEntry | null;
  /** Older letters that are kept whole. */
  readonly letters: readonly MailItem[];
  /** What the summary stands for. */
  readonly gone: readonly PlacedEntry[];
  /** Turns from before the compaction that are kept. */
  readonly kept: readonly PlacedEntry[];
  /** What came after it; everything, when there was none. */
  readonly fresh: readonly PlacedEntry[];
}

export function viewOf(chapter: readonly PlacedEntry[]): ChapterView {
  const at = chapter.findLastIndex(({ entry }) => entry.type === 'compaction');
  const compaction = chapter[at]?.entry;
  if (compaction?.type !== 'compaction') {
    return { compaction: null, letters: [], gone: [], kept: [], fresh: chapter };
  }
  const { keptFrom } = compaction;
  const before = chapter.slice(0, at).filter(({ entry }) => entry.type !== 'compaction');
  const isKept = ({ seq }: PlacedEntry): boolean => keptFrom !== null && seq >= keptFrom;
  const gone = before.filter((placed) => !isKept(placed));
  const wanted = new Set(compaction.letters);
  const letters = gone
    .flatMap(({ entry }) => (entry.type === 'mail' ? entry.items : []))
    .filter((item) => wanted.has(item.n));
  return { compaction, letters, gone, kept: before.filter(isKept), fresh: chapter.slice(at + 1) };
}

/** What its providers noted on the answers that are gone. */
export function metaOfGone(view: ChapterView): Readonly<Record<string, unknown>>[] {
  return view.gone.flatMap(({ entry }) =>
    entry.type === 'answer' && entry.meta !== undefined ? [entry.meta] : [],
  );
}

/** The text that stands in the place of what is gone. */
export function headText(view: ChapterView, compaction: CompactionEntry): string {
  const own = ownNotes([...view.gone, ...view.kept]);
  const parts = [
    `[context compacted: ${compaction.turns} earlier turns of this conversation are summed up here; what follows is word for word]`,
    compaction.summary.trim(),
    section('Notes that you saved', newest(own.notes, NOTES_SHOWN_CHARS)),
    section('Your todo list', todoLines(own.todo)),
    section('Complete outputs of earlier calls, for read_file', outputsOf(view.gone)),
    compaction.team === undefined ? '' : `The team at that moment:\n${compaction.team.trim()}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`${title}:`, ...lines.map((line) => `- ${line}`)].join('\n');
}

/** As many of the newest as there is room for, in their order. */
function newest(texts: readonly string[], chars: number): string[] {
  const kept: string[] = [];
  let left = chars;
  for (const text of texts.toReversed()) {
    left -= text.length;
    if (left < 0) {
      kept.unshift(`(${texts.length - kept.length} older ones are left out)`);
      break;
    }
    kept.unshift(text);
  }
  return kept;
}

function outputsOf(entries: readonly PlacedEntry[]): string[] {
  const lines = entries.flatMap(({ entry }) =>
    entry.type === 'result' && entry.output !== undefined
      ? [`${entry.output} (${entry.tool})`]
      : [],
  );
  return lines.slice(-OUTPUTS_SHOWN_MAX);
}

/** A result of a kept turn, when only head and tail of it are shown; else as it was. */
export function shownResult(result: ResultEntry, compaction: CompactionEntry): ResultEntry {
  const cut = compaction.cut.find((one) => one.call === result.call);
  if (cut === undefined || !isCuttable(result)) return result;
  const head = result.text.slice(0, CUT_HEAD_CHARS);
  const tail = result.text.slice(-CUT_TAIL_CHARS);
  const text = `${head}\n\n[… cut: the whole is in ${cut.output}; read it with read_file …]\n\n${tail}`;
  return { ...result, text };
}

/** Whether showing head and tail of it saves anything. */
function isCuttable(result: ResultEntry): boolean {
  return result.text.length > 2 * (CUT_HEAD_CHARS + CUT_TAIL_CHARS);
}

export interface Turn {
  readonly entries: readonly PlacedEntry[];
  readonly bytes: number;
}

/** What a compaction now would keep. */
export interface Plan {
  /** Newest first is kept; empty only when there is no turn at all. */
  readonly kept: readonly PlacedEntry[];
  readonly keptFrom: number | null;
  /** Said until now, and not any more. */
  readonly dropped: readonly PlacedEntry[];
  readonly letters: readonly MailItem[];
  readonly cut: readonly ResultEntry[];
}

export interface PlanOptions {
  /** Of the turns that are kept; the newest is, whatever its size. */
  readonly turnBytes: number;
  readonly letterBytes: number;
  /** Longer results of kept turns are cut. */
  readonly resultBytes: number;
}

export function planCompaction(chapter: readonly PlacedEntry[], options: PlanOptions): Plan {
  const view = viewOf(chapter);
  const turns = turnsOf([...view.kept, ...view.fresh]);
  let first = Math.max(0, turns.length - 1);
  let bytes = turns[first]?.bytes ?? 0;
  while (first > 0) {
    bytes += turns[first - 1]?.bytes ?? 0;
    if (bytes > options.turnBytes) break;
    first -= 1;
  }
  const kept = turns.slice(first).flatMap((turn) => turn.entries);
  const dropped = turns.slice(0, first).flatMap((turn) => turn.entries);
  const gone = [...view.gone, ...dropped];
  const cut = kept.flatMap(({ entry }) =>
    entry.type === 'result' && sizeOf(entry) > options.resultBytes && isCuttable(entry)
      ? [entry]
      : [],
  );
  return {
    kept,
    keptFrom: kept[0]?.seq ?? null,
    dropped,
    letters: lettersOf(gone, options.letterBytes),
    cut,
  };
}

/** Each from the mail that an answer took in to the last result of its calls. What stands before the first goes with it. */
function turnsOf(entries: readonly PlacedEntry[]): Turn[] {
  const turns: PlacedEntry[][] = [];
  for (const [at, placed] of entries.entries()) {
    const begins =
      placed.entry.type === 'mail'
        ? entries[at + 1]?.entry.type === 'answer'
        : placed.entry.type === 'answer' && entries[at - 1]?.entry.type !== 'mail';
    const last = turns.at(-1);
    if (last === undefined || (begins && last.some(({ entry }) => entry.type === 'answer'))) {
      turns.push([placed]);
    } else last.push(placed);
  }
  return turns.map((one) => ({
    entries: one,
    bytes: one.reduce((sum, { entry }) => sum + sizeOf(entry), 0),
  }));
}

/**
 * Letters that stay whole: the task, why it came back, decisions on plans, then what the user and the lead wrote; of each
 * kind the newest first, as far as there is room. The task itself stays whatever its size.
 */
function lettersOf(entries: readonly PlacedEntry[], bytes: number): MailItem[] {
  const items = entries
    .flatMap(({ entry }) => (entry.type === 'mail' ? entry.items : []))
    .toReversed();
  const wanted = [
    ...items.filter((item) => item.type === 'task.assign').slice(0, 1),
    ...items.filter((item) => item.type === 'task.rework').slice(0, 1),
    ...items.filter((item) => item.type === 'plan.decided').slice(0, 1),
    ...items.filter((item) => item.from === 'user'),
    ...items.filter((item) => item.from === 'lead'),
  ];
  const kept = new Set<MailItem>();
  let left = bytes;
  for (const item of wanted) {
    if (kept.has(item) || kept.size >= LETTERS_KEPT_MAX) continue;
    const size = bytesOf(item.text);
    if (size > left && item.type !== 'task.assign') continue;
    left -= size;
    kept.add(item);
  }
  return [...kept].toSorted((a, b) => a.n - b.n);
}

const encoder = new TextEncoder();

export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** What an entry adds to a request, about. */
export function sizeOf(entry: SessionEntry): number {
  switch (entry.type) {
    case 'mail':
      return entry.items.reduce((sum, item) => sum + bytesOf(item.text) + 60, 0);
    case 'answer':
      return entry.content.reduce((sum, block) => sum + blockBytes(block), 0);
    case 'result':
      return bytesOf(entry.text) + 60;
    case 'compaction':
      return bytesOf(entry.summary) + bytesOf(entry.team ?? '');
  }
}

function blockBytes(block: ContentBlock): number {
  if (block.type === 'text') return bytesOf(block.text) + 20;
  return bytesOf(JSON.stringify(block.input) ?? '') + block.name.length + 80;
}
