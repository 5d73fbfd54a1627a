export * from './connection.ts';
export type { DB } from './database.generated.ts';
export * from './migrator.ts';
export * from './prepared.ts';
export * from './schema.ts';
export * from './store-errors.ts';
export * from './transaction.ts';
