/** Room `testing`: memory twins of the ports, for tests of Troupe and of what is built on it. */
export { SeededRandom } from './seeded-random.ts';
export { VirtualClock } from './virtual-clock.ts';
