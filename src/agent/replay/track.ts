/** One actor's part of a recording, as the steps that it is played by. Pure. */
import type { CassetteHeader, CassetteLine, MailItem, SessionEntry } from '../../protocol/index.ts';

type AnswerEntry = Extract<SessionEntry, { type: 'answer' }>;
type CompactionEntry = Extract<SessionEntry, { type: 'compaction' }>;
export type ResultEntry = Extract<SessionEntry, { type: 'result' }>;
export type Letter = Pick<MailItem, 'from' | 'type' | 'task' | 'text'>;

/** An answer, or a request that got none. */
export interface Step {
  readonly kind: 'answer' | 'failure';
  readonly seq: number;
  readonly life: number;
  /** Of the letters of the track: those that its request took in. */
  readonly took: readonly number[];
  /** Index of its first line: what its request was built from is before it. */
  readonly line: number;
  readonly answer: AnswerEntry | null;
  readonly failed: string;
  /** Compactions between the answer before and this one. */
  readonly compactions: readonly CompactionEntry[];
}

export interface Track {
  readonly header: CassetteHeader;
  readonly lines: readonly CassetteLine[];
  readonly steps: readonly Step[];
  readonly letters: readonly Letter[];
  readonly results: ReadonlyMap<string, ResultEntry>;
}

/** `lines`: of this actor alone, in order. */
export function trackOf(header: CassetteHeader, lines: readonly CassetteLine[]): Track {
  const steps: Step[] = [];
  const letters: Letter[] = [];
  const results = new Map<string, ResultEntry>();
  let mail: { readonly took: number[]; readonly line: number } | null = null;
  let compactions: CompactionEntry[] = [];
  const add = (items: readonly Letter[]): number[] => items.map((item) => letters.push(item) - 1);
  for (const [index, line] of lines.entries()) {
    const { seq, life } = line;
    if ('failed' in line) {
      const more = { answer: null, failed: line.failed, compactions: [] };
      steps.push({ kind: 'failure', seq, life, took: add(line.took), line: index, ...more });
      continue;
    }
    const { entry } = line;
    if (entry.type === 'mail') mail = { took: add(entry.items), line: index };
    else if (entry.type === 'result') results.set(entry.call, entry);
    else if (entry.type === 'compaction') compactions.push(entry);
    else {
      const { took, line: first } = mail ?? { took: [], line: index };
      steps.push({
        kind: 'answer',
        seq,
        life,
        took,
        line: first,
        answer: entry,
        failed: '',
        compactions,
      });
      mail = null;
      compactions = [];
    }
  }
  return { header, lines, steps, letters, results };
}

/** Mail ended it, in the thread or at the supervisor (which says so in words alone). */
export function isCutByMail({ ok, text, interrupted }: ResultEntry): boolean {
  return interrupted === 'mail' || (!ok && text.startsWith('interrupted by mail'));
}

/** What is said of a letter that is missing. */
export function describeLetter(letter: Letter): string {
  const about = letter.task === undefined ? '' : ` about ${letter.task}`;
  const [first = ''] = letter.text.trim().split('\n');
  return `${letter.type} from ${letter.from}${about} (“${first.slice(0, 80)}”)`;
}
