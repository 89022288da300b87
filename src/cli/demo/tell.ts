/** Gathers what the tour shows, from the journal and from git, and prints it. */
import { diffOf, type RunView, readMail, rowOf, type Workspace } from '../../control/index.ts';
import { shellWord } from '../../kernel/shell-word.ts';
import type { MailRow } from '../../protocol/shapes.ts';
import type { Context } from '../context.ts';
import { demoGit } from './git.ts';
import { renderTour, type TourTask } from './tour.ts';

export interface Telling {
  readonly workspace: Workspace;
  /** The folder as the person named it. */
  readonly name: string;
  readonly view: RunView;
}

export async function tellTour(context: Context, telling: Telling): Promise<void> {
  const { workspace, name, view } = telling;
  const run = rowOf(view);
  const mail = await readMail(workspace, view, { actors: [], from: 0 });
  const diff = await diffOf(workspace, { of: run.id, run: run.id, stat: true });
  const graph = await graphOf(context, telling);
  const tour = { run, folder: name, tasks: tourTasks(view, mail), mail, graph, stat: diff.text };
  context.print(renderTour(tour, context.styles));
  context.print(`\nTo see it once more, delete the folder first: rm -rf ${shellWord(name)}\n`);
}

function tourTasks(view: RunView, mail: readonly MailRow[]): TourTask[] {
  const interrupts = mail.filter((row) => row.lane === 'interrupt');
  return [...view.state.graph.nodes.values()].map((node) => ({
    id: node.spec.id,
    owner: node.owner,
    attempt: node.attempt,
    conflicts: node.conflicts,
    interrupted: interrupts.some(
      ({ to, at }) =>
        to === node.owner && at >= (node.startedAt ?? at) && at <= (node.endedAt ?? at),
    ),
    command: node.spec.run,
    gates: node.spec.verify.flatMap((gate) => (gate.kind === 'command' ? [gate.run] : [])),
  }));
}

/** Empty when git can't tell: the rest of the tour is worth having without it. */
async function graphOf(context: Context, { workspace, view }: Telling): Promise<string[]> {
  const { branch } = rowOf(view);
  const range = `${view.state.run.baseCommit}..${branch}`;
  const args = ['log', '--graph', '--format=%h %s', '--no-color', range, '--'];
  const outcome = await demoGit(workspace.places.workspace, context.io.env, args);
  return outcome.kind === 'ok' ? outcome.stdout.trimEnd().split('\n') : [];
}
