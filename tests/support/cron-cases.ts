/** What the proof of schedules goes through: twenty expressions in eight zones. */
export const EXPRESSIONS: readonly string[] = [
  '* * * * *',
  '*/15 * * * *',
  '0 * * * *',
  '45 * * * *',
  '30 7 * * 1-5',
  '0 0 * * *',
  '15 0 * * *',
  '30 1 * * *',
  '30 2 * * *',
  '*/10 2 * * *',
  '15 2,3 * * *',
  '0 3 * * 0',
  '0 0 1 * *',
  '59 23 L * *',
  '0 12 13 * 5',
  '5/20 1-3 * * sun',
  '0 9 * * mon#2',
  '0 18 * * 5L',
  '0 6 29 2 *',
  '0,30 0-4/2 * MAR,APR,OCT,NOV sat-sun',
];

/** Both hemispheres; half an hour of summer time; rules that changed within ten years; none at all. */
export const ZONES: readonly string[] = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Amman',
  'America/Santiago',
];
