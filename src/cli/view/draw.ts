/**
 * The live view as lines. Pure.
 *
 * Invariant: never more lines than `rows - 1` and never wider than `columns`, so that the terminal neither scrolls nor
 * wraps and the view can be drawn over.
 */

import { counted } from '../../kernel/counted.ts';
import type { ActorRow, TaskRow } from '../../protocol/shapes.ts';
import { totalTokens } from '../../protocol/usage.ts';
import { safeLine } from '../text/safe.ts';
import { stateStyle, taskMark } from '../text/states.ts';
import type { Styles } from '../text/style.ts';
import { duration, money, tokens } from '../text/time.ts';
import { fit, pad, widthOf } from '../text/width.ts';
import type { ViewModel } from './model.ts';

export interface ViewSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lines besides tasks and actors: head, two blank ones, mail, hint. */
const FRAME = 5;
const ACTORS_MAX = 8;
const DEPTH_MAX = 6;

export function drawView(model: ViewModel, size: ViewSize, styles: Styles): string[] {
  const room = Math.max(0, size.rows - 1 - FRAME);
  const busy = model.actors.filter((actor) => isWorking(actor));
  const actorLines = Math.min(busy.length, ACTORS_MAX, Math.floor(room / 3));
  const lines = [
    headLine(model, size, styles),
    ...taskLines(model.tasks, { ...size, rows: room - actorLines }, styles),
    ...(actorLines === 0 ? [] : ['']),
    ...busy.slice(0, actorLines).map((actor) => actorLine(actor, model, { size, styles })),
    '',
    ...mailLine(model, size, styles),
    styles.dim(fit(model.hint, size.columns)),
  ];
  return lines.slice(0, Math.max(1, size.rows - 1));
}

function headLine(model: ViewModel, size: ViewSize, styles: Styles): string {
  const { run } = model;
  const done = model.tasks.filter((task) => task.state === 'done').length;
  const facts = [
    `${done}/${counted(model.tasks.length, 'task')}`,
    duration(model.elapsedMs),
    ...(totalTokens(run.usage) === 0 ? [] : [`${money(run.usage)} ${tokens(run.usage)} tokens`]),
  ].join('  ');
  const id = fit(run.id, Math.max(8, size.columns - widthOf(facts) - run.state.length - 6));
  const plain = `${id}  ${run.state}  ${facts}`;
  if (widthOf(plain) > size.columns) return fit(plain, size.columns);
  return `${styles.bold(id)}  ${stateStyle(run.state, styles)(run.state)}  ${facts}`;
}

/** Which tasks go first when there is no room for all. */
const ORDER: Readonly<Record<TaskRow['state'], number>> = {
  running: 0,
  verifying: 0,
  merging: 0,
  failed: 1,
  ready: 2,
  blocked: 3,
  cancelled: 4,
  done: 5,
};

function taskLines(tasks: readonly TaskRow[], size: ViewSize, styles: Styles): string[] {
  if (size.rows <= 0) return [];
  const shown = tasks.length <= size.rows ? tasks : mostTelling(tasks, size.rows - 1);
  const depths = depthsOf(tasks);
  const idWidth = Math.min(
    Math.max(4, ...shown.map((task) => widthOf(task.id) + 2 * (depths.get(task.id) ?? 0))),
    Math.floor(size.columns / 3),
  );
  const lines = shown.map((task) => {
    const indent = '  '.repeat(depths.get(task.id) ?? 0);
    return taskLine(task, { name: pad(fit(indent + task.id, idWidth), idWidth), size, styles });
  });
  const left = tasks.length - shown.length;
  return left === 0
    ? lines
    : [...lines, styles.dim(fit(`  … and ${counted(left, 'more task')}`, size.columns))];
}

/** In their order, so that the tree stays readable. */
function mostTelling(tasks: readonly TaskRow[], count: number): TaskRow[] {
  const ranked = tasks.map((task, index) => ({ task, index, rank: ORDER[task.state] }));
  ranked.sort((a, b) => a.rank - b.rank || a.index - b.index);
  return ranked
    .slice(0, Math.max(0, count))
    .toSorted((a, b) => a.index - b.index)
    .map((one) => one.task);
}

/** How many tasks, one after the other, have to be done before it; needs come before their dependents in most files. */
export function depthsOf(tasks: readonly TaskRow[]): Map<string, number> {
  const depths = new Map<string, number>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depthOf = (task: TaskRow, level: number): number => {
    const known = depths.get(task.id);
    if (known !== undefined || level > DEPTH_MAX) return known ?? 0;
    let depth = 0;
    for (const need of task.needs) {
      const needed = byId.get(need);
      if (needed !== undefined) depth = Math.max(depth, depthOf(needed, level + 1) + 1);
    }
    const own = Math.min(depth, DEPTH_MAX);
    depths.set(task.id, own);
    return own;
  };
  for (const task of tasks) depthOf(task, 0);
  return depths;
}

interface Drawing {
  readonly size: ViewSize;
  readonly styles: Styles;
}

function taskLine(task: TaskRow, at: Drawing & { readonly name: string }): string {
  const { size, styles, name } = at;
  const style = stateStyle(task.state, styles);
  const owner = task.owner === null || task.owner === 'supervisor' ? '' : ` ${task.owner}`;
  const reason = task.reason === null ? '' : `: ${safeLine(task.reason.text)}`;
  const again = task.attempt > 1 ? ` (try ${task.attempt})` : '';
  const note = `${task.state}${owner}${again}${reason}`;
  const left = size.columns - widthOf(name) - 5;
  const title = task.title === task.id ? '' : safeLine(task.title);
  const titleWidth = Math.max(0, Math.min(widthOf(title), left - widthOf(note) - 2, 40));
  const shownNote = fit(note, Math.max(0, left - (titleWidth === 0 ? 0 : titleWidth + 2)));
  const middle = titleWidth === 0 ? '' : `${pad(fit(title, titleWidth), titleWidth)}  `;
  return `${style(taskMark(task.state))} ${name}  ${middle}${style(shownNote)}`;
}

function isWorking(actor: ActorRow): boolean {
  return !['idle', 'passivated', 'stopped'].includes(actor.state);
}

function actorLine(actor: ActorRow, model: ViewModel, at: Drawing): string {
  const { size, styles } = at;
  const since = duration(model.now - Date.parse(actor.since));
  const reason = actor.reason === null ? '' : `: ${safeLine(actor.reason.text)}`;
  const task = actor.task === null ? '' : ` on ${actor.task}`;
  const rest = fit(` ${actor.state}${task}, ${since}${reason}`, size.columns - widthOf(actor.name));
  return `${styles.bold(fit(actor.name, size.columns))}${rest}`;
}

function mailLine(model: ViewModel, size: ViewSize, styles: Styles): string[] {
  if (model.lastMail === null) return [];
  const { from, to, text } = model.lastMail;
  return [styles.dim(fit(`✉ ${from} → ${to}: ${safeLine(text)}`, size.columns))];
}
