/** What became of a run, and how to have it: a part of the command table. */
import { type CommandSpec, RUN } from './command.ts';

export const results: readonly CommandSpec[] = [
  {
    name: 'diff',
    args: [['<task|run>', 'a task of the newest run (or of --run), or a run']],
    summary: 'show the changes of a task or of a whole run',
    options: [{ flags: '--stat', description: 'only which files changed, and how much' }, RUN],
    examples: ['troupe diff parser', 'troupe diff docs-1 --stat'],
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'merge',
    args: [['<run>', 'a run']],
    summary: "merge a run's branch into yours",
    details:
      'Refuses, and changes nothing, when uncommitted edits of yours are in the way. With --continue it goes on with a task\n' +
      'that failed: edit its tree (a conflict is marked there), and its gates run, it lands, and the run goes on.',
    options: [
      { flags: '--into <branch>', description: 'another branch than the current one' },
      { flags: '--squash', description: 'one commit instead of a merge' },
      { flags: '--dry-run', description: 'say what would happen, change nothing' },
      {
        flags: '--continue <task>',
        description: 'verify and land a failed task whose tree you have put in order',
      },
    ],
    examples: [
      'troupe merge docs-1 --dry-run',
      'troupe merge docs-1 --squash',
      'troupe merge docs-1 --continue parser',
    ],
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'worktrees',
    args: [['[action]', '`gc`: remove trees that are not needed, after saving their work']],
    summary: 'list the git worktrees of runs, or clean them up',
    options: [],
    examples: ['troupe worktrees', 'troupe worktrees gc'],
    load: () => import('./commands/worktrees.ts'),
  },
  {
    name: 'restore',
    args: [['[what]', 'a task, RUN/TASK, RUN/TASK/N or a whole ref (default: list what is saved)']],
    summary: 'list work that was saved when its tree went, or bring it back as a branch',
    details:
      'Work that is in no branch is saved before its tree is removed. Brought back it is a branch of its own: nothing\n' +
      'that exists is written over.',
    options: [RUN],
    examples: ['troupe restore', 'troupe restore parser', 'troupe restore docs-1/parser/2'],
    load: () => import('./commands/restore.ts'),
  },
  {
    name: 'pr',
    args: [['<run>', 'a run']],
    summary: "write a pull request of a run's branch, and the commands that open it",
    details:
      'Prints title, text and the commands for your forge, and does nothing else. With --create it pushes the branch and\n' +
      'has `gh` or `glab` open the pull request.',
    options: [
      {
        flags: '--base <branch>',
        description: 'branch to merge into (default: as the remote says)',
      },
      { flags: '--remote <name>', description: 'default: origin, or the only one' },
      { flags: '--body', description: 'print the text only, for a pipe' },
      { flags: '--create', description: 'push, and open it with gh or glab' },
    ],
    examples: ['troupe pr docs-1', 'troupe pr docs-1 --body > pr.md', 'troupe pr docs-1 --create'],
    load: () => import('./commands/pr.ts'),
  },
  {
    name: 'export',
    args: [
      ['<run>', 'a run'],
      ['[file]', 'the zip file to write (default: RUN.zip)'],
    ],
    summary: 'make one file of a run, for a backup or a bug report',
    details: 'Records, outputs and large texts, with secrets taken out. Nothing is sent anywhere.',
    options: [{ flags: '--force', description: 'overwrite the file when it exists' }],
    examples: ['troupe export docs-1', 'troupe export docs-1 /tmp/report.zip'],
    load: () => import('./commands/export.ts'),
  },
];
