/** What `troupe init` writes: a team file that works, with every part explained. Held valid by a test. */

export function teamTemplate(name = 'my-team'): string {
  return `# A team of coding agents. Check this file with \`troupe check\`, run it with \`troupe run\`.
version: 1
name: ${name}

# What the team is for. With a goal and no tasks the lead plans the tasks itself.
goal: Make the failing tests pass and document what changed.

# provider/model. \`scripted/FILE\` plays a script and needs no key.
model: anthropic/claude-sonnet-5-5

# The run stops when one of these is used up.
budget: { usd: 2, wall: 30m }

# parallel: tasks at once · turns: model answers per attempt · depth, fanout: subagents.
limits: { parallel: 4, turns: 60, depth: 2, fanout: 4 }

# Where the work starts from; your branch and working tree are never touched.
base: HEAD

# Each task works in a git worktree of its own. \`setup\` runs in it first; \`copy\` and
# \`link\` bring files that git does not have.
worktree:
  setup: []           # [npm ci]
  copy: []            # [.env]
  link: []            # [node_modules]

# Agent profiles. lead, implementer, reviewer and explorer are built in; what you write
# here is added to them.
# agents:
#   implementer:
#     model: anthropic/claude-opus-5
#   writer:
#     description: Writes documentation
#     prompt: You write short, exact documentation. Finish with complete_task.
#     tools: [read_file, edit_file, write_file, grep, glob, complete_task, fail_task]

# Teammates have names, so that you can write to them: \`troupe send ada "…"\`. Without
# any, Troupe starts the agents that the tasks need.
members:
  lead: { agent: lead }
  teammates:
    - { name: ada, agent: implementer }
    - { name: bo, agent: implementer }

tasks:
  - id: fix
    title: Make the tests pass
    prompt: |
      Run the tests, find out why they fail, and fix the code (not the tests).
    agent: implementer          # who may take it; leave it out for anybody
    touches: [src/**]           # tasks that touch the same files take turns
    verify: [npm test]          # run on the commit before the task counts as done
    attempts: 2
    timeout: 15m

  - id: document
    title: Document what changed
    prompt: Describe the public functions that changed in README.md.
    needs: [fix]                # starts when these are done, with their work in its tree

  - id: tests                   # a command task needs no model
    run: npm test
    needs: [fix, document]

# How the work of a task gets into the run's branch: merge, squash or rebase.
merge: { style: merge }

# Commands that must succeed on the finished branch.
finish: { verify: [npm test] }

# What agents may do without being asked about. Reading is always allowed.
permissions:
  default: allow                # allow | ask | deny
  rules:
    - { id: no-web, effect: deny, tool: web_fetch, reason: the answer is in the repository }
`;
}
