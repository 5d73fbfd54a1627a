import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { useQuery } from '@tanstack/react-query';
import { read } from './request.ts';
import { useUser } from './use-user.ts';

const FIELDS = { org: text(63), repo: text(300) };

/** Returns the chosen organisation and repository: those of the address, else the first. */
export function usePlace() {
  const { values, set } = useAddress(FIELDS);
  const user = useUser();
  const orgs = user.data?.orgs ?? [];
  const org = orgs.find(({ slug }) => slug === values.org) ?? (values.org === '' ? orgs[0] : undefined);
  const bootstrap = useQuery({ ...read('browserBootstrap', { query: { org: org?.slug ?? '' } }), enabled: !!org });
  const repos = bootstrap.data?.repos ?? [];
  const repo = values.repo === '' ? repos[0]?.slug : values.repo;
  return {
    user,
    orgs,
    org,
    /** The address names an organisation that the user is no member of. */
    isForeign: user.isSuccess && values.org !== '' && org === undefined,
    bootstrap,
    repos,
    repo,
    setOrg: (slug: string) => set({ org: slug, repo: '' }, { push: true }),
    setRepo: (slug: string) => set({ repo: slug }, { push: true }),
  };
}
