import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Returns a function that opens a page; the chosen repo stays. */
export function useGo(): (path: string, search?: Record<string, string>) => void {
  const navigate = useNavigate();
  return useCallback((path, search = {}) => void navigate({ to: path, search: search as never }), [navigate]);
}
