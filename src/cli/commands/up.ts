/** `troupe up`: a supervisor that stays, with a parent that starts it again when it dies. */
import { controlErrors } from '../../control/index.ts';
import { EXIT, type ExitCode, fromErrorShape, TroupeError } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag } from '../options.ts';
import { unitFor } from '../unit.ts';
import { ensureUp, findUp, type Up } from '../up.ts';

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  if (flag(options, 'printUnit')) return printUnit(context);
  if (flag(options, 'foreground')) return foreground(context);
  const workspace = await context.workspace();
  const there = await findUp(workspace);
  if (there === null) {
    const { client, status } = await ensureUp(context, workspace);
    client.close();
    return told(context, status, `Up: process ${status.pid}, kept by ${status.parent}.`);
  }
  const { client, status } = there;
  client.close();
  if (status.parent !== null) {
    return told(context, status, `Up already: process ${status.pid}, since ${status.startedAt}.`);
  }
  const machine = await context.machine();
  await machine.launch(workspace, status.pid);
  const again = await findUp(workspace);
  if (again === null) throw controlErrors.silent();
  again.client.close();
  return told(
    context,
    again.status,
    `Up already: process ${status.pid}, which had lost its parent; process ${again.status.parent} keeps it now.`,
  );
}

function told(context: Context, status: Up['status'], text: string): ExitCode {
  if (context.json) context.printJson(status);
  else {
    const left = status.left.map(
      ({ run, reason }) =>
        `The run ${run} is left alone: ${reason}. Go on with it: ${context.command(`troupe resume ${run}`)}\n`,
    );
    context.print(`${text}\n  log: ${status.log}\n${left.join('')}`);
  }
  return EXIT.ok;
}

/** This process is the parent, until all goes down. */
async function foreground(context: Context): Promise<ExitCode> {
  const keep = await context.keeper();
  const kept = await keep({
    directory: context.directory,
    env: context.io.env,
    onReady: (pid) => {
      if (context.json) context.printJson({ pid });
      else context.print(`Up: process ${pid}. Ctrl-C takes it down.\n`);
    },
  });
  switch (kept.kind) {
    case 'down':
      return EXIT.ok;
    case 'failed':
      throw fromErrorShape(kept.error);
    case 'gave-up':
      throw new TroupeError({
        code: 'cli/gave-up',
        message: kept.text,
        hint: 'See its log (`troupe where`).',
        exit: EXIT.unfinished,
      });
  }
}

async function printUnit(context: Context): Promise<ExitCode> {
  const workspace = await context.workspace();
  const unit = unitFor({
    platform: process.platform,
    node: process.execPath,
    program: process.argv[1] ?? 'troupe',
    workspace: workspace.places.workspace,
    hash: workspace.repository.hash,
    path: context.io.env['PATH'] ?? '/usr/bin:/bin',
  });
  if (context.json) context.printJson(unit);
  else {
    context.print(unit.text);
    context.io.err.write(`${unit.how}\n`);
  }
  return EXIT.ok;
}
