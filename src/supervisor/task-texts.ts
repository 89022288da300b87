/**
 * Texts of tasks that are too large for a record: prompt, summary, and what the next worker is told. Records hold heads; the
 * state holds the whole (S10), since the letters to workers are made of it.
 */
import { type BlobStore, wholeText } from '../journal/index.ts';
import { asTaskId } from '../kernel/index.ts';
import type { PayloadRef, RunRecord } from '../protocol/index.ts';
import {
  putTaskText,
  TASK_TEXTS,
  type TaskGraph,
  type TaskTextField,
  taskText,
} from '../tasks/index.ts';

interface State {
  readonly graph: TaskGraph;
  readonly taskTexts: ReadonlyMap<string, PayloadRef>;
}

const PLACE = /^tasks\.(\d+)\.(?:task\.)?(\w+)$/;

/** Remembers where the whole of each text lies; a text that is replaced takes its reference with it. */
export function noteTaskTexts(refs: Map<string, PayloadRef>, record: RunRecord): void {
  if (refs.size > 0) {
    for (const change of record.tasks ?? []) {
      if (change.type === 'task.finished') refs.delete(keyOf(change.id, 'summary'));
      if (change.type === 'task.released') refs.delete(keyOf(change.id, 'rework'));
    }
  }
  for (const { at, blob, bytes } of record.texts ?? []) {
    const [, index, field] = PLACE.exec(at) ?? [];
    const change = record.tasks?.[Number(index)];
    if (change === undefined || !isTextField(field)) continue;
    const id = change.type === 'task.added' ? change.task.id : change.id;
    refs.set(keyOf(id, field), { blob, bytes });
  }
}

/** Puts whole texts where heads are. */
export function putTaskTexts(state: State, whole: (ref: PayloadRef) => string | null): void {
  for (const [key, ref] of state.taskTexts) {
    const [task = '', field] = key.split('/');
    if (!isTextField(field)) continue;
    const id = asTaskId(task);
    if (!isHead(taskText(state.graph, id, field), ref)) continue;
    const text = whole(ref);
    if (text !== null) putTaskText(state.graph, id, { field, text });
  }
}

/** After a replay. What can't be read is named in its place. */
export async function readTaskTexts(state: State, blobs: Pick<BlobStore, 'get'>): Promise<void> {
  const texts = new Map<string, string>();
  for (const [key, { blob, bytes }] of state.taskTexts) {
    const [task = '', field] = key.split('/');
    const text = isTextField(field) ? taskText(state.graph, asTaskId(task), field) : null;
    if (text === null || !isHead(text, { blob, bytes })) continue;
    texts.set(blob, await wholeText(blobs, { text, blob }));
  }
  putTaskTexts(state, ({ blob }) => texts.get(blob) ?? null);
}

function isHead(text: string | null, { bytes }: PayloadRef): boolean {
  return text?.endsWith(`(${bytes} bytes in all)`) === true;
}

function isTextField(field: string | undefined): field is TaskTextField {
  return TASK_TEXTS.some((one) => one === field);
}

function keyOf(task: string, field: TaskTextField): string {
  return `${task}/${field}`;
}
