/** What whoever resolves a conflict is told of it: the places with both sides, their base, and lines that a merge would lose. Pure. */
import type { ConflictFile, LostLines } from '../../worktree/index.ts';
import { GATE_TAIL_BYTES } from '../limits.ts';
import { clip } from '../text.ts';

export function namesOf(files: readonly ConflictFile[]): string {
  return files.map((file) => `${file.path} (${file.kind})`).join(', ');
}

export function conflictNote(conflict: {
  readonly base: string | null;
  readonly mergeHead: string;
  readonly files: readonly ConflictFile[];
}): string {
  const { base, mergeHead, files } = conflict;
  const began =
    base === null
      ? 'Your work and it have no commit in common.'
      : `Your work and it have both begun from commit ${base}: \`git diff ${base} ${mergeHead}\` shows what others did since.`;
  return `The integration branch (commit ${mergeHead}) is merged into your tree; the conflicts are marked in the files. ${began} Resolve every one (keep what both sides meant), then call complete_task.\n\n${describeConflicts(files)}`;
}

/** As seen from the task's tree: there the task's work is ours, the integration branch theirs. */
function describeConflicts(files: readonly ConflictFile[]): string {
  const parts = files.map((file) => {
    const hunks = file.hunks.map((hunk) => {
      const base = hunk.base === null ? [] : ['||||||| before both', ...hunk.base];
      return [
        `${file.path}:${hunk.line}`,
        '<<<<<<< your work',
        ...hunk.ours,
        ...base,
        '=======',
        ...hunk.theirs,
        '>>>>>>> the integration branch',
      ].join('\n');
    });
    const cut = file.cut ? ['(there is more of it in the file)'] : [];
    return [`${file.path} (${file.kind})`, ...hunks, ...cut].join('\n');
  });
  return clip(parts.join('\n\n'), GATE_TAIL_BYTES);
}

/** Here the integration branch is ours, as the merge queue sees it. */
export function lostText(files: readonly LostLines[]): string {
  const names = [...new Set(files.map((file) => file.path))].join(', ');
  const parts = files.map(({ path, side, lines }) => {
    const whose = side === 'ours' ? 'from the integration branch' : 'from your work';
    return [`${path}, ${whose}:`, ...lines.map((line) => `  ${line}`)].join('\n');
  });
  const text = `A merge would lose lines that one side added: ${names}.\n${parts.join('\n')}`;
  return clip(text, GATE_TAIL_BYTES);
}
