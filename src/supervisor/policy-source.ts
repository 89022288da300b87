/** Where a run's policy comes from: the files are read outside of the supervisor, which holds the snapshots only. */
import type { Disk } from '../permissions/index.ts';
import type { PolicySnapshot, RunFile } from '../protocol/index.ts';

export interface PolicySource {
  /** Throws when a layer can't be read or says something it must not (exit 2). */
  load(file: RunFile): Promise<PolicySnapshot>;
  /**
   * As the files are now. A layer that can't be used any more stands as in `last`, without its allow rules, and says why
   * (`problem`). Never throws.
   */
  reload(file: RunFile, last: PolicySnapshot): Promise<PolicySnapshot>;
  /** Another text whenever a file of a layer was changed. Looks only, and never waits. */
  mark(file: RunFile): string;
  /** A person has trusted something, or no longer does: the mark is another one. */
  touch(): void;
  readonly disk: Disk;
}
