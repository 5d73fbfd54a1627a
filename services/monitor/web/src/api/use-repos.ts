import { useQuery } from '@tanstack/react-query';
import { read } from './query.ts';

const config = { ...read('configSummary', {}), staleTime: 60_000 };

/** Returns the slugs of the enabled repos. */
export const useRepos = (): readonly string[] => useQuery(config).data?.repos.map(({ slug }) => slug) ?? [];
