import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface PageLinkProps {
  to: string;
  search?: Record<string, string | undefined>;
  className?: string;
  title?: string;
  tabIndex?: number;
  children: ReactNode;
  'aria-label'?: string;
  'aria-current'?: 'page';
  onClick?: () => void;
}

/** A link to a page of the dashboard; the chosen repo stays in the address. */
export function PageLink({ to, search = {}, ...props }: PageLinkProps) {
  return <Link to={to} search={search as never} activeProps={{}} {...props} />;
}
