import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';

const FIELDS = { repo: text(300) };

/** Returns the chosen repo as `owner/name`; undefined = all. */
export function useRepo(): { repo: string | undefined; setRepo(repo: string | undefined): void } {
  const { values, set } = useAddress(FIELDS);
  const repo = /^[^/\s]+\/[^/\s]+$/.test(values.repo) ? values.repo : undefined;
  return { repo, setRepo: (next) => set({ repo: next ?? '' }, { push: true }) };
}
