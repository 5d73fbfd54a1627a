import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { type Address, type Field, readAddress, type Values, writeAddress } from './fields.ts';

interface Options {
  /** Adds an entry to the history, so that Back undoes the change; default: replaces the current one. */
  push?: boolean;
}

interface UsedAddress<F> extends Address<F> {
  set(change: Partial<Values<F>>, options?: Options): void;
}

/** Returns the values of the fields in the address of the page, and a function that changes them. */
export function useAddress<F extends Readonly<Record<string, Field<unknown>>>>(fields: F): UsedAddress<F> {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const address = useMemo(() => readAddress(fields, search), [fields, search]);
  const set = useCallback(
    (change: Partial<Values<F>>, { push = false }: Options = {}) => {
      const written = writeAddress(fields, change);
      void navigate({ to: '.', search: (old: object) => ({ ...old, ...written }), replace: !push });
    },
    [fields, navigate],
  );
  return { ...address, set };
}
