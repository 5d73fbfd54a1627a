import type { RawBuilder } from 'kysely';

/** Selects violations of the rule, one line of text each. */
export type Rule = RawBuilder<{ what: string }>;
