import { z } from 'zod';

/** Ids that are none of ours are unknown, and never reach the store. */
export const isUuid = (id: string): boolean => z.uuid().safeParse(id).success;
