import { useQuery } from '@tanstack/react-query';
import { read } from './request.ts';

/** The logged-in user, who changes only with a new page. */
const user = { ...read('browserUser', {}), staleTime: Number.POSITIVE_INFINITY };

export const useUser = () => useQuery(user);
