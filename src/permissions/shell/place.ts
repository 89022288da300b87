/** What surrounds a simple command while it is read. */
import type { Arg } from './arg.ts';
import type { Folders, Reading } from './reading.ts';

export interface Place {
  readonly reading: Reading;
  readonly folders: Folders;
  /** Wrappers and lists around it. */
  readonly depth: number;
  /** Scripts around it. */
  readonly scripts: number;
  /** Its input comes from another command. */
  readonly piped: boolean;
  readonly heredocs: readonly string[];
  /** Whole text of the script it stands in. */
  readonly text: string;
  /** Reads a script that stands in a word. */
  readonly readScript: (text: string, place: Place) => void;
  /** Reads a command that stands in the words of another. */
  readonly readCommand: (argv: readonly Arg[], place: Place) => void;
}

export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.endsWith('.exe') ? name.slice(0, -4) : name;
}
