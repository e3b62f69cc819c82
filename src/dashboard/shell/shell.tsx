import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import logo from '../design/icon.svg';
import type { LiveEvent, ServiceStatus } from '../../api/answers.js';
import { zoneOf } from '../../units/short-time.js';
import type { Api } from '../data/api.js';
import type { Cell } from '../data/cell.js';
import { serviceRequest } from '../data/requests.js';
import { type Loaded, useAnswer } from '../data/use-answer.js';
import { useCell } from '../data/use-cell.js';
import { HealthPage } from '../health/health-page.jsx';
import { OverviewPage } from '../overview/overview-page.jsx';
import { createOverviewStore, type OverviewStore } from '../overview/overview-store.js';
import { ScalerPage } from '../scaler/scaler-page.jsx';
import { useHash, usePart } from '../ui/hooks.js';
import { HEALTH_LINK, OVERVIEW_LINK, type Route, routeOf } from '../ui/links.js';
import { Announcer, PageHeading } from '../ui/page.jsx';
import { EmptyView, ErrorBoundary } from '../ui/states.jsx';
import { useNow } from '../ui/time.jsx';
import { type Theme, ThemeButton } from './theme.jsx';

interface ShellProps {
  readonly api: Api;
  readonly theme: Cell<Theme>;
}

export function Shell({ api, theme }: ShellProps): VNode {
  const route = routeOf(useHash());
  const [store] = useState(() => createOverviewStore(api));
  const page = keyOf(route);
  useLayoutEffect(() => scrollTo(0, 0), [page]);
  const { demand } = useCell(api.session.state);
  const service = useAnswer(api, serviceRequest(), SERVICE_FRESHNESS);
  const { value: status } = service;
  const { part } = usePart(loadServiceLine, demand === null);
  const { part: keys } = usePart(loadKeys, true);
  const { part: signIn } = usePart(loadSignIn, demand !== null);
  return (
    <>
      {/* This is a button, because the hash of a link would select another page. */}
      <button type="button" class="skip-link" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to content
      </button>
      <Header theme={theme} route={route}>
        {part === null || demand !== null ? null : <part.Connection api={api} status={status} />}
      </Header>
      {part === null || demand !== null ? null : <part.ServiceLine api={api} status={status} />}
      <main>
        <ErrorBoundary key={page}>
          {demand === null ? (
            <Page api={api} route={route} store={store} service={service} />
          ) : (
            signIn && <signIn.TokenForm session={api.session} message={demand} />
          )}
        </ErrorBoundary>
      </main>
      <Announcer />
      {keys === null ? null : <keys.Keys />}
    </>
  );
}

const SERVICE_FRESHNESS = {
  everyMs: 10_000,
  loadName: 'service',
  isAffected: ({ type }: LiveEvent): boolean => type === 'reload' || type === 'failure',
};

const loadServiceLine = () => import('./service-line.jsx');
const loadSignIn = () => import('./token-form.jsx');
const loadKeys = () => import('./keys.jsx');

interface HeaderProps extends Pick<ShellProps, 'theme'> {
  readonly route: Route;
  readonly children: ComponentChildren;
}

function Header({ theme, route, children }: HeaderProps): VNode {
  const current = (page: Route['page']): 'page' | undefined => (route.page === page ? 'page' : undefined);
  return (
    <header class="header">
      <a class="brand" href={OVERVIEW_LINK}>
        <img src={logo} alt="" width="24" height="24" />
        <span>promscaler</span>
      </a>
      <nav aria-label="Pages">
        <a href={OVERVIEW_LINK} aria-current={current('overview')}>
          Scalers
        </a>
        <a href={HEALTH_LINK} aria-current={current('health')}>
          Health
        </a>
      </nav>
      <div class="header-end">
        {children}
        <Zone />
        <ThemeButton theme={theme} />
      </div>
    </header>
  );
}

/** Shows the time zone in which the page shows all times. */
function Zone(): VNode {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <span class="hint" title={`Times are in ${timeZone}`}>
      <span class="connection-detail">Times in</span> {useNow(zoneOf)}
    </span>
  );
}

interface PageProps {
  readonly api: Api;
  readonly route: Route;
  readonly store: OverviewStore;
  readonly service: Loaded<ServiceStatus>;
}

function Page({ api, route, store, service }: PageProps): VNode {
  switch (route.page) {
    case 'overview':
      return <OverviewPage api={api} store={store} status={service.value} />;
    case 'health':
      return <HealthPage service={service} />;
    case 'scaler':
      return <ScalerPage api={api} namespace={route.namespace} name={route.name} />;
    case 'unknown':
      return (
        <>
          <PageHeading title="No such page" />
          <EmptyView title="There is no page at this address">
            <a href={OVERVIEW_LINK}>All scalers</a>
          </EmptyView>
        </>
      );
  }
}

function keyOf(route: Route): string {
  return route.page === 'scaler' ? `${route.namespace}/${route.name}` : route.page;
}
