/**
 * What an actor keeps for itself beside the conversation: its todo list and its notes. Both are folds over its entries,
 * so they survive a restart and a compaction.
 *
 * Invariants
 * - L23 The list is that of the newest `todo_write` that succeeded, the notes are all `note_save` that did, in order;
 *   a teammate's new task begins with neither.
 */
import type { ContentBlock, PlacedEntry, SessionEntry, TodoItem } from '../protocol/index.ts';

export interface OwnNotes {
  readonly todo: readonly TodoItem[];
  readonly notes: readonly string[];
}

type Call = Extract<ContentBlock, { type: 'call' }>;

const TODO_WRITE = 'todo_write';
const NOTE_SAVE = 'note_save';

/** Of the entries given, which begin with a chapter. */
export function ownNotes(entries: readonly PlacedEntry[]): OwnNotes {
  const calls = new Map<string, Call>();
  let todo: readonly TodoItem[] = [];
  const notes: string[] = [];
  for (const { entry } of entries) {
    if (entry.type === 'answer') {
      for (const block of entry.content) {
        if (block.type === 'call' && isOwn(block.name)) calls.set(block.id, block);
      }
    } else if (entry.type === 'result' && entry.ok) {
      const call = calls.get(entry.call);
      if (call === undefined) continue;
      todo = todoIn(call) ?? todo;
      const note = noteIn(call);
      if (note !== null) notes.push(note);
    }
  }
  return { todo, notes };
}

/** The list that a call of `todo_write` makes; null for other calls. */
export function todoIn(call: Call): readonly TodoItem[] | null {
  if (call.name !== TODO_WRITE) return null;
  const items: unknown = Object(call.input)['items'];
  return Array.isArray(items) ? items.filter(isTodo) : null;
}

/** Mail that gives a task: with it a conversation is about something new. */
export function beginsChapter(entry: SessionEntry): boolean {
  return entry.type === 'mail' && entry.items.some((item) => item.type === 'task.assign');
}

const MARKS: Readonly<Record<TodoItem['state'], string>> = { open: ' ', doing: '~', done: 'x' };

/** One line an item, as models and people read it. */
export function todoLines(todo: readonly TodoItem[]): string[] {
  return todo.map(({ text, state }) => `[${MARKS[state]}] ${text}`);
}

function isOwn(name: string): boolean {
  return name === TODO_WRITE || name === NOTE_SAVE;
}

function noteIn(call: Call): string | null {
  if (call.name !== NOTE_SAVE) return null;
  const text: unknown = Object(call.input)['text'];
  return typeof text === 'string' ? text : null;
}

function isTodo(item: unknown): item is TodoItem {
  if (typeof item !== 'object' || item === null || !('text' in item) || !('state' in item)) {
    return false;
  }
  return typeof item.text === 'string' && Object.hasOwn(MARKS, String(item.state));
}
