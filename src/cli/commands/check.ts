/** `troupe check TEAM`. */
import type { CheckAnswer } from '../../control/index.ts';
import { checkTeam } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const machine = await context.machine();
  const places = await machine.settingsPlaces(text(options, 'workspace'));
  const answer = await checkTeam(machine.deps, places, {
    name: args[0] ?? '',
    cwd: context.io.cwd,
  });
  if (context.json) context.printJson(answer);
  else context.print(render(answer));
  return EXIT.ok;
}

function render(answer: CheckAnswer): string {
  const { name, graph, levels, criticalPath, members } = answer;
  const kinds = new Map(graph.map((task) => [task.id, task]));
  const steps = levels.flatMap((level, index) =>
    level.map((id, position) => {
      const task = kinds.get(id);
      const step = position === 0 ? `${index + 1}.` : '';
      const needs =
        task === undefined || task.needs.length === 0 ? '' : ` after ${task.needs.join(', ')}`;
      return `  ${step.padEnd(3)} ${id} (${task?.kind ?? 'task'})${needs}  ${safeLine(task?.title ?? '')}`;
    }),
  );
  const who = members.length === 0 ? 'no named members' : members.join(', ');
  const lines = [
    `${name} is fine: ${counted(graph.length, 'task')}, ${who}.`,
    ...(graph.length === 0
      ? ['The lead plans the tasks from the goal.']
      : ['', 'Order:', ...steps]),
    ...(criticalPath.length > 1 ? ['', `Longest chain: ${criticalPath.join(' → ')}`] : []),
    ...(answer.warnings.length === 0 ? [] : ['', ...answer.warnings.map(safeLine)]),
  ];
  return `${lines.join('\n')}\n`;
}
