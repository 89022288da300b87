/** `parent.json`: what the parent of a supervisor leaves for those who ask. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParentFile } from '../../protocol/shapes.ts';

export type ParentNote = Omit<ParentFile, 'pid' | 'startTime' | 'at'>;

const noteFile = (state: string): string => join(state, 'parent.json');

export function writeNote(state: string, note: ParentNote): void {
  const { pid } = process;
  const at = new Date().toISOString();
  const file: ParentFile = { pid, startTime: startTimeOf(pid), at, ...note };
  const temporary = `${noteFile(state)}.${pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(file)}\n`, { mode: 0o600 });
  renameSync(temporary, noteFile(state));
}

export function removeNote(state: string): void {
  rmSync(noteFile(state), { force: true });
}

/** Null when there is none, or none that can be read. */
export function readNote(state: string): ParentFile | null {
  try {
    const value: unknown = JSON.parse(readFileSync(noteFile(state), 'utf8'));
    const isNote = typeof value === 'object' && value !== null && 'pid' in value;
    return isNote ? (value as ParentFile) : null;
  } catch {
    return null;
  }
}

/** Whether the process that a note names is that process. */
export function isThere({ pid, startTime }: Pick<ParentFile, 'pid' | 'startTime'>): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return startTime === startTimeOf(pid);
}

/** Whether a supervisor has left word of itself: one that went down in order has not. */
export function tells(state: string): boolean {
  return existsSync(join(state, 'supervisor.json'));
}

/** As the machine counts; '' where it can't be told. A zombie has none. */
export function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? '');
  } catch {
    return '';
  }
}
