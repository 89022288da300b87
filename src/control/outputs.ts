/**
 * Where the output of commands lies: which process belonged to which task is in the journal, what it printed in
 * `outputs/<id>.log` of its run.
 */
import type { RunRecord } from '../protocol/record.ts';
import type { CommandRun } from '../protocol/views.ts';
import { recordsOf } from './mail.ts';
import { type Places, runFolder } from './places.ts';
import type { RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

export type { CommandRun } from '../protocol/views.ts';

export function outputPath(places: Places, run: string, id: string): string {
  return `${runFolder(places, run)}/outputs/${id}.log`;
}

export interface CommandRuns {
  apply(record: RunRecord): void;
  /** In order of their start. */
  readonly byTask: ReadonlyMap<string, readonly CommandRun[]>;
}

/** A fold over the records of a run. */
export function projectCommands(places: Places, run: string): CommandRuns {
  const byTask = new Map<string, CommandRun[]>();
  const open = new Map<string, { readonly list: CommandRun[]; readonly index: number }>();
  return {
    byTask,
    apply(record) {
      for (const change of record.procs ?? []) {
        if (change.type === 'proc.started') {
          const { id, command, actor, task } = change;
          if (task === null) continue;
          const list = byTask.get(task) ?? [];
          byTask.set(task, list);
          open.set(id, { list, index: list.length });
          const output = outputPath(places, run, id);
          const { at: startedAt } = record;
          list.push({
            id,
            command,
            startedAt,
            endedAt: null,
            code: null,
            why: null,
            actor,
            output,
          });
          continue;
        }
        const place = open.get(change.id);
        const started = place?.list[place.index];
        if (place === undefined || started === undefined) continue;
        const { code, why } = change;
        place.list[place.index] = { ...started, endedAt: record.at, code, why };
        open.delete(change.id);
      }
    },
  };
}

/** What the runtime's own commands (not those that agents called) printed last for each task. */
export async function lastOutputs(
  workspace: Workspace,
  view: RunView,
): Promise<ReadonlyMap<string, string>> {
  const commands = projectCommands(workspace.places, view.run);
  for await (const record of recordsOf(workspace, view.run)) commands.apply(record);
  const last = new Map<string, string>();
  for (const [task, list] of commands.byTask) {
    const own = list.findLast((one) => one.actor === null);
    if (own !== undefined) last.set(task, own.output);
  }
  return last;
}
