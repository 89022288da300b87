export { slugify } from './slugify.js';
export { table } from './table.js';
export { truncate } from './truncate.js';
