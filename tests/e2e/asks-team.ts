/** One actor, `ada`, on one task, who asks for all that no rule allows; what it does is in `s.yaml`. */
export const ASKS_TEAM: string = `version: 1
name: asks
model: scripted/s.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Do it. }]
permissions: { default: ask }
`;
