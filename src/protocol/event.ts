/**
 * Events: facts for those who watch. A durable event is derived from a record and has a cursor `<seq>.<i>`; a live one
 * (token fragments) has none and may be dropped.
 */
export interface TroupeEvent {
  /** `<seq>.<i>`; live events repeat the last durable cursor. */
  readonly cursor: string;
  readonly id: string;
  readonly at: string;
  readonly run: string;
  readonly actor?: string;
  readonly incarnation?: number;
  readonly task?: string;
  readonly parent?: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Cursor {
  readonly seq: number;
  readonly index: number;
}

export function parseCursor(text: string): Cursor | null {
  const match = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text);
  if (match === null) return null;
  return { seq: Number(match[1]), index: match[2] === undefined ? -1 : Number(match[2]) };
}
