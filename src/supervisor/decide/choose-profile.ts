/** A profile that an actor names, for a member, a subagent or a task. */
import type { AgentProfile, Team } from '../../protocol/index.ts';

/** A text: why it can't be had, with the choices where the name is unknown. */
export function chooseProfile(agents: Team['agents'], name: string): AgentProfile | string {
  const profile = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (profile !== undefined && profile.unavailable === undefined) return profile;
  const usable = Object.values(agents).filter((one) => one.unavailable === undefined);
  const choices = usable.map((one) => one.name).toSorted();
  const why =
    profile === undefined
      ? `there is no agent profile "${name}"`
      : `the agent profile "${name}" can't be used in this run: ${profile.unavailable}`;
  return `${why}; choose one of: ${choices.join(', ')}`;
}
