import { expect, test } from 'vitest';
import type { AgentProfile } from '../../../src/protocol/index.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

function offered(tools: readonly string[] | null): readonly string[] {
  const made = team({ teammates: ['ada'], tasks: [task({ id: 'one' })] });
  const implementer = { ...(made.agents['implementer'] as AgentProfile), tools };
  const world = new TeamWorld(
    runFile({
      id: 'r1',
      team: { ...made, agents: { ...made.agents, implementer } },
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
  const start = world.effects.find((effect) => effect.type === 'actor.start');
  return start?.type === 'actor.start' ? start.start.tools : [];
}

test('the web is for profiles that name it; who has bash can look after what it started', () => {
  expect(offered(null)).toContain('bash_wait');
  expect(offered(null)).not.toContain('web_fetch');
  expect(offered(['web_fetch'])).toContain('web_fetch');
  expect(offered(['web_fetch'])).not.toContain('bash_kill');
  expect(offered(['bash'])).toEqual(
    expect.arrayContaining(['bash', 'bash_output', 'bash_wait', 'bash_kill']),
  );
});
