/** The kind of metric that uses the query. */
export type Member = 'pods' | 'object' | 'external';

/** Valid queries from rule files and dashboards of well-known exporters. */
export const VALID_QUERIES: readonly (readonly [Member, string])[] = [
  // The kubelet, cAdvisor, kube-state-metrics and the recording rules of kube-prometheus.
  [
    'pods',
    'sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{namespace="$namespace", pod=~"$pods", container!=""}[5m]))',
  ],
  [
    'pods',
    'sum by (cluster, namespace, pod, container) (irate(container_cpu_usage_seconds_total{job="kubelet", metrics_path="/metrics/cadvisor", image!=""}[5m])) * on (cluster, namespace, pod) group_left(node) topk by (cluster, namespace, pod) (1, max by (cluster, namespace, pod, node) (kube_pod_info{node!=""}))',
  ],
  [
    'pods',
    'container_memory_working_set_bytes{job="kubelet", metrics_path="/metrics/cadvisor", image!=""} * on (cluster, namespace, pod) group_left(node) topk by (cluster, namespace, pod) (1, max by (cluster, namespace, pod, node) (kube_pod_info{node!=""}))',
  ],
  [
    'pods',
    'sum by (pod) (node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate{namespace="$namespace", pod=~"$pods"})',
  ],
  [
    'pods',
    'sum by (pod) (container_memory_working_set_bytes{pod=~"$pods"}) / sum by (pod) (kube_pod_container_resource_limits{resource="memory", pod=~"$pods"})',
  ],
  ['pods', 'sum by (namespace, pod) (rate(container_network_receive_bytes_total{pod=~"$pods"}[2m]))'],
  ['pods', 'max without (instance, job) (kube_pod_container_status_restarts_total)'],
  [
    'external',
    'sum by (cluster, namespace, workload, workload_type) (label_replace(label_replace(kube_pod_owner{job="kube-state-metrics", owner_kind="ReplicaSet"}, "replicaset", "$1", "owner_name", "(.*)") * on (cluster, replicaset, namespace) group_left(owner_name) topk by (cluster, replicaset, namespace) (1, max by (cluster, replicaset, namespace, owner_name) (kube_replicaset_owner)), "workload", "$1", "owner_name", "(.*)"))',
  ],
  ['external', 'count by (cluster) (sum by (node, cluster, cpu) (node_cpu_seconds_total))'],
  ['external', '1 - avg(rate(node_cpu_seconds_total{mode="idle"}[5m]))'],
  ['external', 'sum(:node_memory_MemAvailable_bytes:sum) / sum(node_memory_MemTotal_bytes)'],
  ['external', 'sum(kube_pod_status_phase{phase="Pending", namespace="$namespace"})'],
  ['external', 'count(kube_node_info)'],
  ['external', 'sum(kube_job_status_active{namespace="$namespace", job_name=~"batch-.*"})'],
  ['external', 'avg_over_time(sum(kube_pod_status_ready{condition="true"})[10m:30s])'],
  [
    'external',
    'quantile(0.95, sum by (instance) (rate(node_network_transmit_bytes_total{device!~"lo|veth.*"}[5m])))',
  ],
  // nginx ingress, Traefik, HAProxy, Envoy, Istio, Linkerd.
  ['object', 'sum(rate(nginx_ingress_controller_requests{namespace="$namespace", ingress="$object"}[1m]))'],
  [
    'object',
    'histogram_quantile(0.99, sum by (le) (rate(nginx_ingress_controller_request_duration_seconds_bucket{ingress="$object"}[2m])))',
  ],
  [
    'external',
    'sum by (ingress) (rate(nginx_ingress_controller_requests{status!~"5.."}[5m])) / sum by (ingress) (rate(nginx_ingress_controller_requests[5m]))',
  ],
  ['external', 'sum(rate(traefik_service_requests_total{service=~"$name@.*"}[1m]))'],
  ['external', 'max by (proxy) (haproxy_backend_current_queue)'],
  ['pods', 'sum by (pod) (rate(envoy_cluster_upstream_rq_total{envoy_cluster_name!="xds"}[1m]))'],
  ['external', 'sum(envoy_http_downstream_cx_active{envoy_http_conn_manager_prefix="ingress"})'],
  [
    'pods',
    'label_replace(sum by (kubernetes_pod_name) (rate(istio_requests_total{reporter="destination", destination_workload="$name"}[1m])), "pod", "$1", "kubernetes_pod_name", "(.+)")',
  ],
  [
    'external',
    'sum(irate(istio_requests_total{reporter="destination", destination_service=~"$name.$namespace.svc.cluster.local", response_code!~"5.*"}[5m]))',
  ],
  [
    'external',
    'histogram_quantile(0.95, sum(irate(istio_request_duration_milliseconds_bucket{reporter="source", destination_service_name="$name"}[1m])) by (le)) / 1000',
  ],
  ['pods', 'sum(rate(request_total{direction="inbound", deployment="$name"}[30s])) by (pod)'],
  // RabbitMQ, Kafka, SQS, Pub/Sub, NATS, Redis, Celery, Sidekiq.
  ['external', 'sum by (namespace, queue) (rabbitmq_queue_messages_ready{queue="mail"})'],
  [
    'external',
    'rabbitmq_queue_messages_ready * on (instance) group_left (rabbitmq_cluster) rabbitmq_identity_info{rabbitmq_cluster="main"}',
  ],
  [
    'external',
    'rate(rabbitmq_queue_messages_published_total[1m]) - ignoring (state) rate(rabbitmq_queue_messages_delivered_total[1m])',
  ],
  ['external', 'sum by (consumergroup, topic) (clamp_min(kafka_consumergroup_lag{consumergroup="shop"}, 0))'],
  ['external', 'sum(kafka_consumergroup_group_lag{group="shop"} >= 0)'],
  [
    'external',
    'max by (topic) (kafka_topic_partition_current_offset) - on (topic) min by (topic) (kafka_consumergroup_current_offset)',
  ],
  [
    'external',
    'sum(aws_sqs_approximate_number_of_messages_visible_average{dimension_QueueName="jobs"} offset 1m)',
  ],
  [
    'external',
    'max(stackdriver_pubsub_subscription_pubsub_googleapis_com_subscription_num_undelivered_messages{subscription_id="jobs"})',
  ],
  ['external', 'sum(nats_consumer_num_pending{stream_name="ORDERS"})'],
  ['external', 'max(redis_key_size{key="queue:default"})'],
  ['external', 'sum(celery_queue_length{queue_name=~"high|low"})'],
  ['external', 'max_over_time(sum(sidekiq_queue_latency_seconds)[5m:])'],
  ['external', 'sum(flower_task_prefetch_time_seconds > 0) or on () (0 * sum(flower_worker_online == 1))'],
  // Application runtimes and servers: JVM, Tomcat, Go, Node.js, PHP-FPM, Gunicorn, .NET, PostgreSQL, MySQL, MongoDB.
  ['pods', 'avg by (pod) (jvm_threads_live_threads{pod=~"$pods"})'],
  [
    'pods',
    'sum by (pod) (jvm_memory_used_bytes{area="heap"}) / on (pod) sum by (pod) (jvm_memory_max_bytes{area="heap"}) * 100',
  ],
  [
    'pods',
    'sum by (pod) (rate(jvm_gc_pause_seconds_sum[5m])) / sum by (pod) (rate(jvm_gc_pause_seconds_count[5m]) > 0)',
  ],
  [
    'pods',
    'tomcat_threads_busy_threads{pod=~"$pods"} / ignoring (name) group_left tomcat_threads_config_max_threads',
  ],
  ['pods', 'hikaricp_connections_active{pod=~"$pods"}'],
  ['pods', 'sum by (pod) (rate(http_server_requests_seconds_count{uri!~"/actuator.*", pod=~"$pods"}[1m]))'],
  ['pods', 'go_goroutines{job="api", pod=~"$pods"}'],
  ['pods', 'nodejs_eventloop_lag_p99_seconds{pod=~"$pods"} * 1e3'],
  ['pods', 'phpfpm_active_processes{pod=~"$pods"} / (phpfpm_active_processes + phpfpm_idle_processes)'],
  ['pods', 'sum without (worker, instance) (gunicorn_requests_in_progress)'],
  [
    'pods',
    'rate(process_cpu_seconds_total{pod=~"$pods"}[$__rate_interval])'.replace('$__rate_interval', '1m'),
  ],
  ['external', 'sum(pg_stat_activity_count{state="active", datname="$name"})'],
  ['external', 'max(mysql_global_status_threads_running / mysql_global_variables_max_connections)'],
  ['external', 'sum(rate({__name__=~"mongodb_op_counters_.*total", type="query"}[2m]))'],
  ['external', 'sum(increase(elasticsearch_indices_search_query_total[5m])) / 300'],
  // SLOs, predictions, joins with information, UTF-8 names, subqueries, times of day.
  ['external', 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))'],
  ['external', 'predict_linear(sum(queue_depth)[15m:1m], 300)'],
  ['external', 'max(deriv(queue_depth[10m]))'],
  ['external', 'scalar(sum(active_sessions)) + 5'],
  ['external', 'sum({"http.server.active_requests", "k8s.namespace.name"="shop"})'],
  ['external', 'sum by ("k8s.deployment.name") (rate({"http.server.request.duration_count"}[1m]))'],
  ['external', 'sum(active_sessions) unless on () (maintenance_window == 1)'],
  ['external', 'sum(active_sessions) * (1 + (hour() >= bool 8) * (hour() < bool 18))'],
  ['external', 'time() - max(push_time_seconds{job="batch"})'],
  ['external', 'max(sum by (az) (queue_depth)) * count(count by (az) (queue_depth))'],
  ['external', 'sum(round(rate(orders_total[5m]) * 60, 0.1))'],
  ['pods', 'label_join(sum by (pod_name) (sessions), "pod", "", "pod_name")'],
  ['pods', 'count by (pod) (websocket_connection_info == 1)'],
  ['pods', 'sum by (pod) (sessions) * on (pod) group_left (node) kube_pod_info'],
  ['pods', 'topk(20, sum by (pod, path) (rate(http_requests_total[1m])))'],
  ['external', 'sum(topk(3, rate(http_requests_total[1m])))'],
  ['external', 'vector(10) * on () sum(active_sessions)'],
  ['external', 'sum(a_total) == sum(a_total)'],
  ['external', 'sum(queue_depth) != -1'],
  ['external', '# the depth of all queues\nsum( # of each\n  queue_depth\n)'],
  ['external', 'sum by (queue) (queue_depth) and on () (sum(up{job="rabbitmq"}) > 0)'],
  ['external', 'sum(queue_depth) or (vector(0) and on () (sum(up{job="rabbitmq"} == 1) >= 1))'],
  ['external', 'sum(rate(errors_total[5m])) or 0 * sum(rate(requests_total[5m]))'],
  ['external', 'avg(avg_over_time(load1[5m] offset 1w)) / avg(load1)'],
  ['external', 'sum_over_time(orders_per_minute{shop="de"}[1h]) / 60'],
  ['external', 'histogram_avg(rate(request_duration_seconds{job="api"}[5m]))'],
  ['external', 'histogram_quantile(0.9, rate(request_duration_seconds[5m]))'],
  ['external', 'sum(count_values("version", build_info))'],
  ['external', 'day_of_week() * 0 + on () group_right () sum(queue_depth)'.replace('group_right () ', '')],
];
