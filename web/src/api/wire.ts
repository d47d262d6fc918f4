// SPDX-License-Identifier: Apache-2.0
// Made by scripts/wire_types.mjs from openapi.json: change src/server/schemas and run ./dev docs.
export interface components {
  schemas: {
    /** @description A figure that the session does not contain. */
    Unknown: {
      /** @description Why. */
      unknown: string;
      /** @description What would record it; absent if nothing would. */
      hint?: string;
    };
    /** @description Of values; without any, only count and total. */
    Distribution: {
      count: number;
      total: number;
      min?: number;
      max?: number;
      mean?: number;
    };
    /** @description Of whole numbers, usually nanoseconds; without any, only count and total. */
    Stats: {
      count: number;
      total: number;
      min?: number;
      max?: number;
      mean?: number;
      median?: number;
      p90?: number;
      p99?: number;
    };
    /** @description Readings over time. */
    Series: {
      step_ns: number;
      /** @description [time_ns, min, mean, max] */
      points: [number, number, number, number][];
    };
    /** @description Of the whole run, from phases of it, with the ends of its 95% interval. */
    PhaseEstimate: {
      value: number;
      low: number;
      high: number;
      phases: number;
    };
    /** @description Of the whole run, from windows in it, with the ends of its 95% interval. */
    WindowEstimate: {
      value: number;
      low: number;
      high: number;
      windows: number;
    };
    /** @enum {string} */
    KernelClass:
      | "matrix product"
      | "convolution"
      | "attention"
      | "softmax"
      | "normalization"
      | "reduction"
      | "elementwise"
      | "gather"
      | "optimizer"
      | "communication"
      | "copy"
      | "random"
      | "sort"
      | "other";
    /** @description [first_ns, last_ns]; null: nothing was recorded. */
    Span: [number, number] | null;
    /** @description An analysis that is not ready. Ask again after Retry-After seconds. */
    Accepted: {
      /** @enum {string} */
      state: "queued" | "running";
      /** @description 0 to 1 */
      progress: number;
    };
    /** @description The session is being indexed. Ask again after Retry-After seconds. */
    Indexing: {
      /** @enum {string} */
      state: "indexing";
    };
    /** @description A recorded session, as the lists have it. */
    Session: {
      /** @description As it stands in addresses. */
      id: string;
      run: string;
      /** @description Relative to the folder that is served. */
      path: string;
      /** @enum {string} */
      state: "live" | "complete" | "not proven" | "losses" | "damaged" | "unclosed" | "unreadable";
      problem?: string;
      app: string;
      engine: string;
      host: string;
      start_wall_ns: string | null;
      duration_ns: number | null;
      duration_is_lower_bound: boolean;
      kernels: number | null;
      bytes: number;
      rank: number | null;
      world_size: number | null;
      process: string;
      pid: number;
      command: string;
      devices: components["schemas"]["SessionDevice"][];
      tags: string[];
    };
    /** @description A GPU of a session, in brief. */
    SessionDevice: {
      /** @description -1: the log does not say. */
      device: number;
      vendor: string;
      name: string;
    };
    SessionDetail: components["schemas"]["Session"] & {
      /** @description The first line of the log; absent if it cannot be read. */
      header?: components["schemas"]["SessionHeader"];
      device_lines: components["schemas"]["DeviceLine"][];
      /** @description What the user wrote down. */
      note: string;
    };
    /** @description The first line of the log. */
    SessionHeader: {
      /** @enum {string} */
      type: "session";
      format: number;
      session_id: string;
      run_id?: string;
      app_name?: string;
      gpufl_version?: string;
      engine?: string;
      backend?: string;
      backends?: {
        name: string;
        engine: string;
      }[];
      start_wall_ns: string;
      start_monotonic_ns: string;
      clock_error_ns: number;
      pid: number;
      process?: string;
      command?: string;
      host?: string;
      boot_id?: string;
      container?: string;
      os?: string;
      rank?: number;
      world_size?: number;
      local_rank?: number;
      overhead_budget_ppm?: number;
      /** @description Which pass of a run this is, from 1. */
      pass?: number;
      /** @description The engine asked for in each pass. */
      passes?: string[];
      source_text?: boolean;
    };
    /** @description A GPU by the log, which may have former names: sm_count is compute_units. */
    DeviceLine: {
      /** @enum {string} */
      type?: "device";
      device: number;
      vendor: string;
      name: string;
      uuid?: string;
      pci_bus?: string;
      driver?: string;
      runtime?: string;
      architecture?: string;
      compute_units?: number;
      sm_count?: number;
      memory_bytes?: number;
      power_limit_mw?: number;
      max_compute_clock_mhz?: number;
      max_sm_clock_mhz?: number;
      max_memory_clock_mhz?: number;
      memory_bus_bits?: number;
      pcie_generation_max?: number;
      pcie_width_max?: number;
      slowdown_temperature_c?: number;
      shutdown_temperature_c?: number;
      compute_major?: number;
      compute_minor?: number;
      multiprocessor?: components["schemas"]["Multiprocessor"];
    } & {
      [key: string]: unknown;
    };
    /** @description What a multiprocessor has, by its architecture; of reports alone. */
    Multiprocessor: {
      threads: number;
      blocks: number;
      registers: number;
      shared_bytes: number;
      /** @description Taken from each block. */
      shared_reserved_bytes: number;
      warp_threads: number;
      /** @description Registers are divided evenly among them. */
      schedulers: number;
      /** @description A warp gets registers in such pieces. */
      register_unit: number;
      /** @description A block gets shared memory in such pieces. */
      shared_unit_bytes: number;
    };
    SessionList: {
      sessions: components["schemas"]["Session"][];
      /** @description On all pages. */
      matches: number;
      next_cursor: string | null;
    };
    /** @description All sessions of one launch. */
    Run: {
      id: string;
      app: string;
      start_wall_ns: string | null;
      longest_ns: number;
      bytes: number;
      live_sessions: number;
      world_size: number | null;
      hosts: string[];
      /** @description Their ids, by rank. */
      sessions: string[];
    };
    /** @description A run with its sessions. */
    RunDetail: {
      id: string;
      app: string;
      start_wall_ns: string | null;
      longest_ns: number;
      bytes: number;
      live_sessions: number;
      world_size: number | null;
      hosts: string[];
      sessions: components["schemas"]["Session"][];
    };
    RunList: {
      runs: components["schemas"]["Run"][];
      next_cursor: string | null;
    };
    /** @description A machine that sessions were recorded on. */
    Host: {
      host: string;
      sessions: number;
      live_sessions: number;
      last_start_wall_ns: string;
    };
    HostList: {
      hosts: components["schemas"]["Host"][];
      next_cursor: string | null;
    };
    /** @description A GPU, as its latest session describes it; of one whose sessions are gone, what is known without them. */
    Device: {
      /** @description By which its readings are asked for; null: there are none. */
      id: string | null;
      last_seen_wall_ns: string | null;
      last_reading_wall_ns: string | null;
      host: string;
      sessions: number;
      device?: number;
      vendor?: string;
      name: string;
      uuid?: string;
      pci_bus?: string;
      driver?: string;
      runtime?: string;
      architecture?: string;
      compute_units?: number;
      sm_count?: number;
      memory_bytes?: number;
      power_limit_mw?: number;
      max_compute_clock_mhz?: number;
      max_sm_clock_mhz?: number;
      max_memory_clock_mhz?: number;
      memory_bus_bits?: number;
      pcie_generation_max?: number;
      pcie_width_max?: number;
      slowdown_temperature_c?: number;
      shutdown_temperature_c?: number;
      compute_major?: number;
      compute_minor?: number;
    } & {
      [key: string]: unknown;
    };
    DeviceList: {
      devices: components["schemas"]["Device"][];
      next_cursor: string | null;
    };
    /** @description What a session's report has. */
    SectionList: {
      /** @enum {string} */
      state: "ready";
      is_current: boolean;
      log_bytes: number;
      analyzed_log_bytes: number;
      sections: {
        name: string;
        bytes: number;
      }[];
    };
    /** @description A file of a session's log. Some is known of sealed ones only. */
    Window: {
      /** @description null: there is no such file any more. */
      name: string | null;
      /** @enum {string} */
      channel: "device" | "scope" | "system" | "code";
      number: number;
      /** @enum {string} */
      state: "sealed" | "unsealed" | "live" | "missing" | "deleted";
      lines?: number;
      rows?: number;
      raw_bytes?: number;
      first_ns?: number;
      last_ns?: number;
      hash?: string;
      bytes: number | null;
    };
    WindowList: {
      is_live: boolean;
      windows: components["schemas"]["Window"][];
    };
    /** @description What the user wrote down about a session. */
    Notes: {
      text: string;
      tags: string[];
    };
    /** @description Replaces both; what is left out becomes empty. */
    NotesChange: {
      text?: string;
      tags?: string[];
    };
    /** @description How much of the session an answer is of. */
    IndexFrame: {
      version: number;
      is_live: boolean;
      is_complete: boolean;
      indexed: {
        bytes: number;
        of: number;
      };
      span: components["schemas"]["Span"];
    };
    /** @enum {string} */
    TrackKind:
      | "kernels"
      | "copies"
      | "fills"
      | "graphs"
      | "kernel_calls"
      | "copy_calls"
      | "fill_calls"
      | "graph_calls"
      | "memory_calls"
      | "api_calls"
      | "waits"
      | "scopes"
      | "markers"
      | "warps"
      | "coverage";
    /** @description GPU work has device, context, stream; warps launch, block, group; others thread, markers also domain. */
    TrackInfo: {
      id: string;
      kind: components["schemas"]["TrackKind"];
      device?: number;
      context?: number;
      stream?: number;
      thread?: number;
      /** @description As the program calls it. */
      thread_name?: string;
      /** @description Of markers, who made them: torch.op; left out: nobody said. */
      domain?: string;
      launch?: number;
      block?: number;
      group?: number;
      engine?: string;
      rows: number;
      events: number;
      busy_ns: number;
      span: components["schemas"]["Span"];
    };
    /** @description A series of readings. */
    SeriesInfo: {
      id: string;
      /**
       * @description pm_sample: a hardware counter of a GPU.
       * @enum {string}
       */
      kind: "device_metric" | "host_metric" | "counter" | "pm_sample";
      device?: number;
      index: number;
      metric: string;
    };
    TrackList: components["schemas"]["IndexFrame"] & {
      tracks: components["schemas"]["TrackInfo"][];
      series: components["schemas"]["SeriesInfo"][];
      problems: string[];
    };
    /** @description A row with each of its events. start_ns are differences to the one before. */
    TileEvents: {
      row: number;
      /** @constant */
      is_exact: true;
      start_ns: number[];
      duration_ns: number[];
      name: number[];
      /** @description null: it is still open. */
      event: (string | null)[];
      /** @description Places of those that are still open. */
      open?: number[];
    };
    /** @description A row in steps of step_ns. step are differences to the one before. */
    TileSteps: {
      row: number;
      /** @constant */
      is_exact: false;
      step_ns: number;
      step: number[];
      count: number[];
      busy_ns: number[];
      /** @description The one with the most time. */
      name: number[];
    };
    TileRow: components["schemas"]["TileEvents"] | components["schemas"]["TileSteps"];
    TileTrack: {
      id: string;
      rows: components["schemas"]["TileRow"][];
    };
    /** @description What a number in `name` stands for. */
    TileName: {
      label: string;
      /** @description In full, if it differs from the label. */
      name?: string;
      class?: components["schemas"]["KernelClass"];
    };
    /** @description By kind of track, then by number. */
    TileNames: {
      [key: string]: {
        [key: string]: components["schemas"]["TileName"];
      };
    };
    Tile: components["schemas"]["IndexFrame"] & {
      step_ns: number;
      tracks: components["schemas"]["TileTrack"][];
      names: components["schemas"]["TileNames"];
    };
    /** @description Columns. step are differences to the one before; a step begins at step * step_ns. */
    SeriesPicture: {
      id: string;
      metric: string;
      step_ns: number;
      step: number[];
      count: number[];
      min: number[];
      max: number[];
      last: number[];
      mean: number[];
    };
    SeriesTile: components["schemas"]["IndexFrame"] & {
      series: components["schemas"]["SeriesPicture"][];
    };
    EventList: components["schemas"]["IndexFrame"] & {
      events: components["schemas"]["EventEntry"][];
      /** @description `starts_from` of the next page, with the same range; null: this is the last. */
      next_from: number | null;
    };
    Selection: components["schemas"]["IndexFrame"] & {
      tracks: components["schemas"]["TrackSum"][];
    };
    /** @description What a range of a track adds up to. */
    TrackSum: {
      id: string;
      /** @description Events that begin in the range. */
      count: number;
      /** @description Events that began before it and reach into it. */
      reaching: number;
      /** @description Time within the range that both take. */
      busy_ns: number;
      has_all_names: boolean;
      name_count: number;
      names: {
        label: string;
        name?: string;
        count: number;
        reaching: number;
        busy_ns: number;
      }[];
    };
    /** @description Launches of one kernel: columns with a number for each. */
    LaunchList: components["schemas"]["IndexFrame"] & {
      /** @description Of the whole session. */
      count: number;
      tracks: string[];
      /** @description Each as the difference to the one before. */
      start_ns: number[];
      duration_ns: number[];
      /** @description Places in `tracks`. */
      track: number[];
      event: string[];
      /** @description `starts_from` of the next page; null: this is the last. */
      next_from: number | null;
    };
    SearchAnswer: components["schemas"]["IndexFrame"] & {
      matches: number;
      found: components["schemas"]["EventEntry"] | null;
    };
    /** @description An event in brief. */
    EventEntry: {
      /** @description CHANNEL.WINDOW.LINE.ROW; null: it has not ended, and the duration is what is known. */
      event: string | null;
      track: string;
      row: number;
      start_ns: number;
      duration_ns: number;
      label: string;
      /** @description In full, if it differs from the label. */
      name?: string;
    };
    MarkerAround: components["schemas"]["EventEntry"] & {
      domain: string | null;
    };
    /** @description A frame of a stack of the program. */
    CodeFrame: {
      text: string;
      /** @enum {string} */
      origin: "user" | "library" | "internal";
      function: string;
      file: string;
      line: number;
      module: string;
      inlined: boolean;
    };
    /** @description The line of the user's own code. */
    CodeSite: {
      text: string;
      file: string;
      line: number;
      source: string | null;
    };
    /** @description What the log knows around an event. Outermost first; null: nothing. */
    EventAround: {
      /** @description null: it is not on the timeline. */
      event: components["schemas"]["EventEntry"] | null;
      class?: components["schemas"]["KernelClass"];
      /** @description The call behind work of a GPU. */
      call: components["schemas"]["EventEntry"] | null;
      /** @description Of a launch of a graph: what its nodes did; of many, the first ones. */
      work: components["schemas"]["EventEntry"][];
      scopes: components["schemas"]["EventEntry"][];
      markers: components["schemas"]["MarkerAround"][];
      site: components["schemas"]["CodeSite"] | null;
      frames: components["schemas"]["CodeFrame"][];
    };
    /** @description A row of the log; what is unknown is left out. Ids of 64 bits are strings. */
    EventDetail: {
      name?: string;
      start_ns?: number;
      duration_ns?: number;
      time_ns?: number;
      device?: number;
      context?: number;
      stream?: number;
      thread?: number;
      correlation?: number;
      scope?: number;
      inherited?: number;
      api_start_ns?: number;
      api_duration_ns?: number;
      stack?: string[];
      graph?: number;
      graph_node?: string;
      node_stack?: string[];
      external?: string;
      queued_ns?: number;
      submitted_ns?: number;
      grid?: [number, number, number];
      /** @description Of a kernel three sizes, of a warp's span a number. */
      block?: [number, number, number] | number;
      cluster?: [number, number, number];
      registers?: number;
      shared_static?: number;
      shared_dynamic?: number;
      local_per_thread?: number;
      local_total?: number;
      shared_total?: number;
      cache?: string;
      occupancy?: number;
      occupancy_bound?: string;
      occupancy_bounds?: {
        [key: string]: number;
      };
      occupancy_limit?: string;
      occupancy_limits?: {
        [key: string]: number;
      };
      bytes?: number;
      value?: number;
      route?: number;
      source_memory?: number;
      target_memory?: number;
      peer_device?: number;
      memory?: number;
      operation?: number;
      address?: string;
      pool?: string;
      pool_bytes?: number;
      wait_kind?: number;
      event_id?: number;
      nodes?: number;
      end_device?: number;
      result?: number;
      error?: string;
      id?: number | string;
      parent?: number;
      depth?: number;
      tag?: string;
      repeat?: number;
      warmup?: number;
      ending?: number;
      domain?: string;
      category?: number;
      color?: number;
      payload?: number;
      payload_exponent?: number;
      shape?: number;
      end_thread?: number;
      launch?: number;
      sm?: number;
      group?: number;
      event?: string;
      group_name?: string;
      error_ns?: number;
      engine?: string;
      why?: number;
      cost_ns?: number;
      measure?: number;
      samples?: number;
      dropped?: number;
      launches?: number;
      async?: number;
      around: components["schemas"]["EventAround"];
    };
    /** @description relative_error is that of median, p90 and p99. */
    IndexedKernel: {
      label: string;
      full_name: string;
      class: components["schemas"]["KernelClass"];
      share: number;
      duration_ns: components["schemas"]["Stats"];
      relative_error: number;
    };
    KernelList: components["schemas"]["IndexFrame"] & {
      count: number;
      total_ns: number;
      /** @description How many there are. */
      names: number;
      by_name: components["schemas"]["IndexedKernel"][];
    };
    /** @description A scope that has not ended. */
    OpenScope: {
      label: string;
      start_ns: number;
      thread: number;
      depth: number;
    };
    ScopeList: components["schemas"]["IndexFrame"] & {
      count: number;
      total_ns: number;
      /** @description How many there are. */
      names: number;
      by_name: {
        label: string;
        duration_ns: components["schemas"]["Stats"];
        relative_error: number;
      }[];
      open: components["schemas"]["OpenScope"][];
    };
    WaitList: components["schemas"]["IndexFrame"] & {
      count: number;
      total_ns: number;
      by_call: {
        call: string;
        blocked_ns: components["schemas"]["Stats"];
        relative_error: number;
      }[];
    };
    /** @description null: no copy has a known size. */
    IndexedTransfers: {
      duration_ns: components["schemas"]["Stats"];
      relative_error: number;
      bytes: {
        count: number;
        total: number;
      } | null;
      bytes_per_second: number | null;
    };
    IndexedCopies: components["schemas"]["IndexedTransfers"] & {
      label: string;
      share: number;
    };
    CopyList: components["schemas"]["IndexFrame"] & {
      copies: {
        all: components["schemas"]["IndexedTransfers"];
        by_direction: components["schemas"]["IndexedCopies"][];
      };
      fills: components["schemas"]["IndexedTransfers"];
    };
    /** @description A series and what its readings were. */
    HealthMetric: {
      id: string;
      /** @enum {string} */
      kind: "device_metric" | "host_metric" | "counter";
      /** @description null: the host. */
      device: number | null;
      metric: string;
      index: number;
      values: {
        count: number;
        min: number;
        max: number;
        mean: number;
      };
      last: number;
    };
    /** @description Readings of one metric. Lists have one entry for each point. */
    DeviceHealthSeries: {
      metric: string;
      index: number;
      /** @description Which step from the beginning; of those without a reading there is none. */
      step: number[];
      count: number[];
      min: number[];
      mean: number[];
      max: number[];
    };
    /** @description Readings of one GPU in a range of time. */
    DeviceHealth: {
      device: {
        id: string;
        host: string;
        uuid: string;
        name: string;
        last_seen_wall_ns: string | null;
        last_reading_wall_ns: string | null;
      };
      /** @enum {integer} */
      level_s: 1 | 10 | 60 | 600 | 3600;
      /** @description Seconds of a step, a multiple of the level. */
      step_s: number;
      from_wall_ns: string;
      series: components["schemas"]["DeviceHealthSeries"][];
      series_left_out: number;
    };
    Health: components["schemas"]["IndexFrame"] & {
      devices: components["schemas"]["DeviceLine"][];
      events: components["schemas"]["LogEvent"][];
      event_counts: {
        [key: string]: number;
      };
      events_left_out: number;
      metrics: components["schemas"]["HealthMetric"][];
    };
    LedgerAnswer: components["schemas"]["IndexFrame"] & {
      session: components["schemas"]["ReportSession"];
      capabilities: components["schemas"]["Capability"][];
      ledger: components["schemas"]["Ledger"];
    };
    /** @description `gpufl report --format json` of a session. */
    Report: {
      /** @enum {string} */
      format: "gpufl-report";
      version: number;
      /** @enum {string} */
      kind: "session";
      options: components["schemas"]["ReportOptions"];
      session: components["schemas"]["ReportSession"];
      passes?: components["schemas"]["MergedPasses"];
      option_warnings: components["schemas"]["LogEvent"][];
      machine: components["schemas"]["Machine"];
      devices: components["schemas"]["DeviceLine"][];
      capabilities: components["schemas"]["Capability"][];
      ledger: components["schemas"]["Ledger"];
      coverage: components["schemas"]["Coverage"];
      deep_windows: components["schemas"]["DeepWindows"];
      gpu_time: components["schemas"]["GpuTime"];
      kernels: components["schemas"]["Kernels"] | components["schemas"]["Unknown"];
      transfers: components["schemas"]["Transfers"];
      waits: components["schemas"]["Waits"] | components["schemas"]["Unknown"];
      scopes: components["schemas"]["Scope"][];
      iterations: components["schemas"]["Iterations"] | components["schemas"]["Unknown"];
      launch_latency: components["schemas"]["LaunchLatency"];
      api_calls: components["schemas"]["ApiCall"][] | components["schemas"]["Unknown"];
      memory: components["schemas"]["MemoryUsage"][] | components["schemas"]["Unknown"];
      communication: components["schemas"]["Communication"][] | components["schemas"]["Unknown"];
      markers: components["schemas"]["Marker"][];
      metrics: components["schemas"]["Metric"][];
      counters: components["schemas"]["Counter"][];
      samples: components["schemas"]["SampledKernel"][];
      stalls: components["schemas"]["Stalls"] | components["schemas"]["Unknown"];
      ranges: components["schemas"]["CountedRange"][];
      sampled_counters: components["schemas"]["SampledCounter"][];
      roofline: components["schemas"]["Roofline"] | components["schemas"]["Unknown"];
      warps: components["schemas"]["WarpLaunch"][];
      events: components["schemas"]["LogEvent"][];
      insights: components["schemas"]["Insight"][];
    };
    /** @description A member of Report. */
    Section:
      | components["schemas"]["ReportOptions"]
      | components["schemas"]["ReportSession"]
      | components["schemas"]["LogEvent"][]
      | components["schemas"]["Machine"]
      | components["schemas"]["DeviceLine"][]
      | components["schemas"]["Capability"][]
      | components["schemas"]["Ledger"]
      | components["schemas"]["Coverage"]
      | components["schemas"]["DeepWindows"]
      | components["schemas"]["MergedPasses"]
      | components["schemas"]["GpuTime"]
      | (components["schemas"]["Kernels"] | components["schemas"]["Unknown"])
      | components["schemas"]["Transfers"]
      | (components["schemas"]["Waits"] | components["schemas"]["Unknown"])
      | components["schemas"]["Scope"][]
      | (components["schemas"]["Iterations"] | components["schemas"]["Unknown"])
      | components["schemas"]["LaunchLatency"]
      | (components["schemas"]["ApiCall"][] | components["schemas"]["Unknown"])
      | (components["schemas"]["MemoryUsage"][] | components["schemas"]["Unknown"])
      | (components["schemas"]["Communication"][] | components["schemas"]["Unknown"])
      | components["schemas"]["Marker"][]
      | components["schemas"]["Metric"][]
      | components["schemas"]["Counter"][]
      | components["schemas"]["SampledKernel"][]
      | (components["schemas"]["Stalls"] | components["schemas"]["Unknown"])
      | components["schemas"]["CountedRange"][]
      | components["schemas"]["SampledCounter"][]
      | (components["schemas"]["Roofline"] | components["schemas"]["Unknown"])
      | components["schemas"]["WarpLaunch"][]
      | components["schemas"]["LogEvent"][]
      | components["schemas"]["Insight"][];
    /** @description Of a program that ran in several passes: what each gave, and where they differ. */
    MergedPasses: {
      list: components["schemas"]["Pass"][];
      /** @description The number of the pass whose times are shown, from 1. */
      times: number;
      stalls: number | components["schemas"]["Unknown"];
      counts: number | components["schemas"]["Unknown"];
      ranges: number | components["schemas"]["Unknown"];
      mismatches: {
        launches: {
          kernel: string;
          full_name: string;
          scope: string | null;
          /** @description In each pass; null: unknown. */
          launches: (number | null)[];
        }[];
        order: {
          pass: number;
          launch: number;
          expected: string;
          found: string;
        }[];
        not_compared: string[];
      };
    };
    Pass: {
      asked: string;
      /** @description null: the process has no session in this pass. */
      got: string | null;
      reason: string;
      hint: string;
      session: string | null;
      log: string | null;
      duration_ns: number | null;
      duration_is_lower_bound: boolean;
      /** @description null: GPU work was not recorded. */
      kernels: number | null;
      kernel_ns: number | null;
      /** @description null: nobody counted. */
      launches: number | null;
    };
    /** @description A session of a run: the report's sections, and figures of all its GPUs together. */
    RunRank: {
      rank: number | null;
      busy_ns: number | components["schemas"]["Unknown"];
      kernel_ns: number | components["schemas"]["Unknown"];
      wait_ns: number | components["schemas"]["Unknown"];
      communication_ns: number | components["schemas"]["Unknown"];
      iteration_ns: number | components["schemas"]["Unknown"];
      /** @description Its time 0 after that of the earliest. */
      offset_ns: number;
      session: components["schemas"]["ReportSession"];
      passes?: components["schemas"]["MergedPasses"];
      option_warnings: components["schemas"]["LogEvent"][];
      machine: components["schemas"]["Machine"];
      devices: components["schemas"]["DeviceLine"][];
      capabilities: components["schemas"]["Capability"][];
      ledger: components["schemas"]["Ledger"];
      coverage: components["schemas"]["Coverage"];
      deep_windows: components["schemas"]["DeepWindows"];
      gpu_time: components["schemas"]["GpuTime"];
      kernels: components["schemas"]["Kernels"] | components["schemas"]["Unknown"];
      transfers: components["schemas"]["Transfers"];
      waits: components["schemas"]["Waits"] | components["schemas"]["Unknown"];
      scopes: components["schemas"]["Scope"][];
      iterations: components["schemas"]["Iterations"] | components["schemas"]["Unknown"];
      launch_latency: components["schemas"]["LaunchLatency"];
      api_calls: components["schemas"]["ApiCall"][] | components["schemas"]["Unknown"];
      memory: components["schemas"]["MemoryUsage"][] | components["schemas"]["Unknown"];
      communication: components["schemas"]["Communication"][] | components["schemas"]["Unknown"];
      markers: components["schemas"]["Marker"][];
      metrics: components["schemas"]["Metric"][];
      counters: components["schemas"]["Counter"][];
      samples: components["schemas"]["SampledKernel"][];
      stalls: components["schemas"]["Stalls"] | components["schemas"]["Unknown"];
      ranges: components["schemas"]["CountedRange"][];
      sampled_counters: components["schemas"]["SampledCounter"][];
      roofline: components["schemas"]["Roofline"] | components["schemas"]["Unknown"];
      warps: components["schemas"]["WarpLaunch"][];
      events: components["schemas"]["LogEvent"][];
      insights?: components["schemas"]["Insight"][];
    };
    /** @description A kernel of all ranks. */
    RunKernel: {
      label: string;
      full_name: string;
      class: components["schemas"]["KernelClass"];
      count: number;
      total_ns: number;
      share: number;
      min_rank_ns: number;
      max_rank_ns: number;
    };
    /** @description How differently long ranks take. */
    Imbalance: {
      mean: number;
      min: number;
      max: number;
      /** @description Index into ranks. */
      slowest: number;
      share: number;
    };
    /** @description `gpufl report --format json` of a run. */
    RunReport: {
      /** @enum {string} */
      format: "gpufl-report";
      version: number;
      /** @enum {string} */
      kind: "run";
      id: string;
      kernels: components["schemas"]["RunKernel"][];
      imbalance: {
        busy: components["schemas"]["Imbalance"] | components["schemas"]["Unknown"];
        compute: components["schemas"]["Imbalance"] | components["schemas"]["Unknown"];
        iteration: components["schemas"]["Imbalance"] | components["schemas"]["Unknown"];
      };
      ranks: components["schemas"]["RunRank"][];
      insights: components["schemas"]["Insight"][];
      problems: string[];
    };
    /** @description What was asked for; null: everything. */
    ReportOptions: {
      device: number | null;
      scope: string | null;
      window: {
        start_ns: number;
        end_ns: number;
      } | null;
    };
    /** @description Which session it is, and how it ended. */
    ReportSession: {
      id: string;
      run: string;
      app: string;
      engine: string;
      backend: string;
      backends?: {
        name: string;
        engine: string;
      }[];
      pass?: number;
      passes?: string[];
      gpufl_version: string;
      start_wall_ns: string;
      duration_ns: number;
      duration_is_lower_bound: boolean;
      /** @enum {string} */
      ended: "cleanly" | "not_yet" | "cut_off";
      pid: number;
      process: string;
      command: string;
      host: string;
      os: string;
      container: string;
      rank: number | null;
      world_size: number | null;
      local_rank: number | null;
      log: string;
    };
    /** @description An event of the log, with whatever else it says. */
    LogEvent: {
      /** @enum {string} */
      type: "event";
      time: number;
      name: string;
      text?: string;
      device?: number;
      code?: number;
      source?: string;
      reason?: string;
      key?: string;
      line?: number;
    } & {
      [key: string]: unknown;
    };
    /** @description What the log says of the host. */
    Machine: {
      type?: string;
      time?: number;
      name?: string;
      core_count?: number;
      cpu_model?: string;
      ram_total_bytes?: number;
    } | null;
    /** @description What was asked for and what there was. */
    Capability: {
      feature: string;
      asked: string;
      got: string;
      as_asked: boolean;
      reason: string;
      detail: string;
      hint: string;
      backend?: string;
    };
    /** @description What is wrong with a file of the log. */
    LogProblem: {
      /** @enum {string} */
      kind:
        | "torn_line"
        | "bad_line"
        | "bad_window"
        | "missing_window"
        | "hash_mismatch"
        | "unknown_id"
        | "time_out_of_range"
        | "unknown_kind"
        | "unknown_column"
        | "newer_format"
        | "oversized"
        | "manifest_mismatch"
        | "unreadable";
      file: string;
      line: number;
      text: string;
    };
    /** @description The ledger's line: counts by name, and by device and kind of row. */
    LedgerNumbers: {
      by_device?: ({
        device: number;
      } & {
        [key: string]: number;
      })[];
      rows?: {
        [key: string]: number;
      };
      dropped?: {
        [key: string]: number;
      };
      uncounted?: string[];
    } & {
      [key: string]: unknown;
    };
    /** @description Whether everything is there. */
    Ledger: {
      verdict: string;
      meaning: string;
      /** @description By kind. */
      rows_read: {
        [key: string]: number;
      };
      /** @description null: the log has no ledger. */
      numbers: components["schemas"]["LedgerNumbers"] | null;
      problem_count: number;
      problems: components["schemas"]["LogProblem"][];
    };
    /** @description How much of the session was recorded. */
    CoverageSums: {
      is_budgeted: boolean;
      budget_ppm: number | null;
      phases: number;
      covered_ns: number;
      whole_ns: number;
      share: number;
      is_last_inferred: boolean;
    };
    /** @description Also by engine, of phases that have a row. */
    Coverage: components["schemas"]["CoverageSums"] & {
      engines: {
        engine: string;
        phases: number;
        phase_ns: number;
        windows: number;
        window_ns: number;
        /** @description null: unknown. */
        cost_ns: number | null;
        /** @enum {string|null} */
        measure: "calls" | "steps" | "calls and steps" | null;
        samples: number;
        dropped: number;
      }[];
    };
    /** @description Short stretches in which an engine above Trace was attached. */
    DeepWindows: {
      /** @description null: no option opens any. */
      armed: {
        only: boolean;
        after_ns: number | null;
        condition: string | null;
      } | null;
      count: number;
      duration_ns: number;
      /** @description null: unknown of some. */
      launches: number | null;
      list: {
        name: string | null;
        start_ns: number;
        duration_ns: number;
        launches: number | null;
        /** @description The highest that was attached; null: none could be. */
        engine: string | null;
        /** @description api, control, after or when. */
        opened_by: string;
        /** @description session, duration, launches, api, control, pause or failure. */
        closed_by: string;
        condition: string | null;
        seen: number | null;
        /** @description Why an engine that was asked for was not attached. */
        reason: string | null;
        ignored: number;
      }[];
    };
    /** @description Where an insight comes from. */
    Evidence: {
      text: string;
      kernel?: string;
      scope?: string;
      file?: string;
      line?: number;
      device?: number;
      start_ns?: number;
      end_ns?: number;
    };
    /** @description What costs time, and what to do about it. */
    Insight: {
      rule: string;
      /** @enum {string} */
      category:
        | "SYNCHRONIZATION"
        | "LAUNCH"
        | "TRANSFER"
        | "MEMORY"
        | "OCCUPANCY"
        | "COMPUTE"
        | "SYSTEM"
        | "TRACE";
      /** @enum {string} */
      severity: "HIGH" | "MEDIUM" | "LOW";
      title: string;
      detail: string;
      advice: string;
      /** @description null: none can be told. */
      gain_ns: number | null;
      gain_share: number;
      /** @enum {string} */
      gain_of: "session" | "what was recorded";
      /** @description How the gain was estimated. */
      estimate: string;
      /** @enum {string} */
      confidence: "high" | "medium" | "low";
      evidence: components["schemas"]["Evidence"][];
    };
    /** @description Pauses of at least 1 us. */
    IdleTime: {
      count: number;
      total_ns: number;
      /** @description Of shorter pauses. */
      short_ns: number;
      longest: {
        start_ns: number;
        end_ns: number;
        after: components["schemas"]["WorkKind"];
        before: components["schemas"]["WorkKind"];
      }[];
      by_length: {
        from_ns: number;
        /** @description null: no end. */
        to_ns: number | null;
        count: number;
        total_ns: number;
      }[];
    };
    /** @enum {string} */
    WorkKind: "kernel" | "copy" | "fill" | "graph";
    /** @description Kernels at once. */
    Concurrency: {
      mean: number;
      max: number;
      one_ns: number;
      two_ns: number;
      more_ns: number;
    };
    /** @description What a GPU did. */
    DeviceTime: {
      /** @description -1: the log does not say which. */
      device: number;
      name: string;
      busy_ns: number | components["schemas"]["Unknown"];
      busy_share: number | components["schemas"]["Unknown"];
      recorded_ns: number | components["schemas"]["Unknown"];
      first_ns: number | components["schemas"]["Unknown"];
      last_ns: number | components["schemas"]["Unknown"];
      before_ns: number | components["schemas"]["Unknown"];
      after_ns: number | components["schemas"]["Unknown"];
      kernels: number | components["schemas"]["Unknown"];
      copies: number | components["schemas"]["Unknown"];
      fills: number | components["schemas"]["Unknown"];
      graphs: number | components["schemas"]["Unknown"];
      kernel_ns: number | components["schemas"]["Unknown"];
      copy_ns: number | components["schemas"]["Unknown"];
      fill_ns: number | components["schemas"]["Unknown"];
      graph_ns: number | components["schemas"]["Unknown"];
      kernel_sum_ns: number | components["schemas"]["Unknown"];
      copy_sum_ns: number | components["schemas"]["Unknown"];
      fill_sum_ns: number | components["schemas"]["Unknown"];
      concurrency: components["schemas"]["Concurrency"] | components["schemas"]["Unknown"];
      idle: components["schemas"]["IdleTime"] | components["schemas"]["Unknown"];
      busy_series: components["schemas"]["Series"] | components["schemas"]["Unknown"];
    };
    /** @description What the GPUs did. */
    GpuTime: {
      recorded_ns: number | components["schemas"]["Unknown"];
      devices: components["schemas"]["DeviceTime"][];
      energy_joules: number | components["schemas"]["Unknown"];
      caveats: string[];
    };
    /** @description Kernels that have something in common. */
    KernelGroup: {
      label: string;
      /** @description If it differs from the label. */
      full_name?: string;
      /**
       * @description The kernels for which the log has no such information.
       * @constant
       */
      is_rest?: true;
      /** @description Of the time of all kernels. */
      share: number;
      duration_ns: components["schemas"]["Stats"];
    };
    /** @description How a kernel was launched; null: unknown. */
    LaunchConfig: {
      grid: [number, number, number] | null;
      block: [number, number, number] | null;
      cluster?: [number, number, number] | null;
      registers: number | null;
      shared_static: number | null;
      shared_dynamic: number | null;
      local_per_thread: number | null;
      local_total: number | null;
      /** @description Theoretical, 0 to 1. */
      occupancy: number | null;
      /** @description What bounds it, in the vendor's words. */
      occupancy_limit: string | null;
      /** @description The same in words for every vendor. */
      occupancy_bound: string | null;
      /** @description Blocks that each resource alone would allow on a multiprocessor: waves, registers, shared_memory, groups. */
      occupancy_bounds: {
        [key: string]: number;
      } | null;
    };
    KernelByName: components["schemas"]["KernelGroup"] & {
      class: components["schemas"]["KernelClass"];
      /** @description Of the whole run, of a session in phases. */
      estimate?: {
        share: components["schemas"]["PhaseEstimate"];
        total_ns: components["schemas"]["PhaseEstimate"];
      };
    };
    KernelByConfig: components["schemas"]["KernelGroup"] & {
      class: components["schemas"]["KernelClass"];
      config: components["schemas"]["LaunchConfig"];
    };
    KernelByStream: components["schemas"]["KernelGroup"] & {
      device: number;
      stream: string;
    };
    KernelByDevice: components["schemas"]["KernelGroup"] & {
      device: number;
    };
    /** @description Kernels in groups, most time first. */
    Kernels: {
      count: number;
      total_ns: number;
      by_name: components["schemas"]["KernelByName"][];
      by_config: components["schemas"]["KernelByConfig"][];
      by_class: components["schemas"]["KernelGroup"][];
      by_scope: components["schemas"]["KernelGroup"][];
      by_stream: components["schemas"]["KernelByStream"][];
      by_device: components["schemas"]["KernelByDevice"][];
      by_line: components["schemas"]["KernelGroup"][] | components["schemas"]["Unknown"];
      by_api_call: components["schemas"]["KernelGroup"][] | components["schemas"]["Unknown"];
      by_op?: components["schemas"]["KernelGroup"][];
      by_module?: components["schemas"]["KernelGroup"][];
    };
    /** @description Copies or fills. bytes is null if none has a known size. */
    TransferGroup: {
      label: string;
      duration_ns: components["schemas"]["Stats"];
      bytes: components["schemas"]["Stats"] | null;
      bytes_per_second: number | null;
      share: number;
      overlapped_ns: number;
      asynchronous: number;
    };
    TransferByMemory: components["schemas"]["TransferGroup"] & {
      direction: string;
      source: components["schemas"]["MemoryKind"];
      target: components["schemas"]["MemoryKind"];
    };
    TransferBySize: components["schemas"]["TransferGroup"] & {
      min_bytes: number | null;
      max_bytes: number | null;
    };
    /** @enum {string} */
    MemoryKind:
      | "unknown"
      | "pageable"
      | "pinned"
      | "device"
      | "array"
      | "managed"
      | "device static"
      | "managed static";
    /** @description Copies of memory. */
    Copies: {
      all: components["schemas"]["TransferGroup"];
      by_direction: components["schemas"]["TransferGroup"][];
      by_memory: components["schemas"]["TransferByMemory"][];
      by_size: components["schemas"]["TransferBySize"][];
    };
    /** @description Copies and fills of memory. */
    Transfers: {
      copies: components["schemas"]["Copies"] | components["schemas"]["Unknown"];
      fills: components["schemas"]["TransferGroup"] | components["schemas"]["Unknown"];
    };
    WaitSpan: {
      start_ns: number;
      duration_ns: number;
    };
    LineWait: components["schemas"]["WaitSpan"] & {
      /** @description The thread's wait before it; null: it had not waited. */
      before: components["schemas"]["WaitSpan"] | null;
    };
    /** @description What threads launched since their wait before, over all waits of a line. */
    LaunchedWork: {
      /** @description Most time on the GPU first, at most 20. */
      kernels: {
        /** @description Its place in the section's kernels. */
        kernel: number;
        count: number;
        gpu_ns: number;
      }[];
      /** @description Sums of those beyond the 20. */
      others: {
        kernels: number;
        count: number;
        gpu_ns: number;
      };
      /** @description Launches of graphs that were recorded whole. */
      graphs: number;
    };
    /** @description A line of the program that waits. */
    WaitLine: {
      label: string;
      file: string;
      line: number;
      call: string;
      /** @description A stream waits, and the host goes on. */
      holds_stream: boolean;
      count: number;
      /** @description 0 for waits of streams. */
      blocked_ns: number;
      typical: components["schemas"]["LineWait"];
      longest: components["schemas"]["LineWait"];
      launched: components["schemas"]["LaunchedWork"] | components["schemas"]["Unknown"];
    };
    WaitCall: {
      call: string;
      blocked_ns: components["schemas"]["Stats"];
    };
    /** @description Waits of the host for the GPU. */
    Waits: {
      by_call: components["schemas"]["WaitCall"][];
      by_line: components["schemas"]["WaitLine"][];
      /** @description That lines wait for, each once. */
      kernels: {
        label: string;
        full_name: string;
      }[];
      /** @description Kernels in no line's figures, as their thread or launch is unknown. */
      kernels_without_call: number;
      /** @description Text around the lines, as the session has it. */
      sources: components["schemas"]["SourceText"][] | components["schemas"]["Unknown"];
    };
    /** @description How long launches take. */
    LaunchLatency: {
      kernels: number;
      launch_ns: components["schemas"]["Stats"] | components["schemas"]["Unknown"];
      queue_ns: components["schemas"]["Stats"] | components["schemas"]["Unknown"];
      driver_ns: components["schemas"]["Stats"] | components["schemas"]["Unknown"];
    };
    /** @description Calls of one function of the vendor's API. */
    ApiCall: {
      function: string;
      calls: number;
      share: number;
      failed: number;
      duration_ns: components["schemas"]["Stats"];
    };
    /** @description Allocations of one kind on one GPU. */
    MemoryUsage: {
      device: number;
      kind: components["schemas"]["MemoryKind"];
      allocations: number;
      releases: number;
      unmatched_releases: number;
      allocated_bytes: number;
      peak_bytes: number;
      peak_ns: number;
      end_bytes: number;
      end_allocations: number;
      allocations_per_second: number;
      call_ns: number | components["schemas"]["Unknown"];
      live_bytes: components["schemas"]["Series"];
    };
    /** @description Communication between GPUs, as kernels. */
    Communication: {
      device: number;
      kernels: number;
      communication_ns: number;
      compute_ns: number;
      overlapped_ns: number;
      exposed_ns: number;
      overlap_share: number;
    };
    /** @description Work of a scope. */
    ScopeWork: {
      gpu_ns: number;
      kernels: number;
      kernel_ns: number;
      copies: number;
      copy_ns: number;
      /** @description null: no copy has a known size. */
      copy_bytes: number | null;
      fills: number;
      fill_ns: number;
      waits: number;
      wait_ns: number;
    };
    ScopeItem: {
      label: string;
      count: number;
      total_ns: number;
    };
    /** @description A scope of the program, in order of a walk through the tree. */
    Scope: {
      path: string;
      name: string;
      tag: string;
      depth: number;
      /** @description Index; null: outermost. */
      parent: number | null;
      duration_ns: components["schemas"]["Distribution"];
      span_ns: number;
      duration_stats_ns: components["schemas"]["Stats"];
      iteration_ns?: components["schemas"]["Distribution"];
      warmup?: number;
      iteration_gpu_ns?: number | components["schemas"]["Unknown"];
      is_lower_bound: boolean;
      cut: number;
      lost: number;
      open: number;
      open_ns: number;
      own: components["schemas"]["ScopeWork"] | components["schemas"]["Unknown"];
      total: components["schemas"]["ScopeWork"] | components["schemas"]["Unknown"];
      busy_ns: number | components["schemas"]["Unknown"];
      kernels: components["schemas"]["ScopeItem"][] | components["schemas"]["Unknown"];
      kernel_names: number | components["schemas"]["Unknown"];
      waits: components["schemas"]["ScopeItem"][] | components["schemas"]["Unknown"];
      mean_launch_ns: number | components["schemas"]["Unknown"];
      energy_joules: number | components["schemas"]["Unknown"];
      counters: {
        name: string;
        increase: number | components["schemas"]["Unknown"];
        per_second: number | components["schemas"]["Unknown"];
      }[];
      unlisted_counters?: number;
    };
    Iteration: {
      start_ns: number;
      end_ns: number;
      is_warmup: boolean;
      is_cut: boolean;
      /** @description null: the session records no GPU work. */
      kernels: number | null;
      kernel_ns: number | null;
    };
    /** @description What repeats. */
    Iterations: {
      /** @enum {string} */
      source: "scopes" | "markers" | "kernel sequence";
      label: string;
      coverage: number;
      warmups: number;
      is_lower_bound: boolean;
      duration_ns: components["schemas"]["Stats"];
      kernel_ns: components["schemas"]["Stats"] | components["schemas"]["Unknown"];
      list: components["schemas"]["Iteration"][];
    };
    /** @description Marks and ranges of one name. */
    Marker: {
      name: string;
      domain: string;
      marks: number;
      range_ns: components["schemas"]["Distribution"];
      open: number;
      open_ns: number;
      is_lower_bound: boolean;
    };
    /** @description Readings of a GPU or of the host. */
    Metric: {
      /** @description null: the host. */
      device: number | null;
      metric: string;
      index: number;
      values: components["schemas"]["Distribution"];
      is_cumulative: boolean;
      first: number;
      last: number;
      first_ns: number;
      last_ns: number;
      bit_samples?: number[];
      series: components["schemas"]["Series"];
    };
    /** @description A counter of the program. */
    Counter: {
      name: string;
      samples: number;
      first: number;
      last: number;
      increase: number;
      per_second: number | null;
      rate: components["schemas"]["Series"];
    };
    /** @description What the deeper engines saw of a kernel. */
    SampledKernel: {
      label: string;
      full_name: string;
      samples: number;
      /** @description By reason. */
      stalls: {
        [key: string]: number;
      };
      /** @description By name. */
      counters: {
        [key: string]: number;
      };
    };
    StallKernel: {
      label: string;
      full_name: string;
      samples: number;
      share: components["schemas"]["WindowEstimate"] | components["schemas"]["Unknown"];
      devices: {
        device: number;
        samples: number;
      }[];
      stalls: {
        reason: string;
        meaning: string;
        samples: number;
        not_issued: number;
        share: components["schemas"]["WindowEstimate"];
      }[];
      hottest: {
        module: string;
        pc: number;
        samples: number;
        reason: string;
      }[];
    };
    /** @description What warps waited for. */
    Stalls: {
      samples: number;
      windows: number;
      kernels: components["schemas"]["StallKernel"][];
      scopes: {
        /** @description null: none. */
        scope: string | null;
        exact: number;
        estimated: number;
        stalls: {
          [key: string]: number;
        };
      }[];
      without_scope: number;
    };
    /** @description By stall reason. */
    StallCounts: {
      [key: string]: {
        samples: number;
        not_issued: number;
      };
    };
    SourcePlace: {
      file: string;
      line: number;
    };
    /** @description places: the innermost inlined function first. */
    Instruction: {
      offset: number;
      text: string;
      places: components["schemas"]["SourcePlace"][];
      ptx_line: number | null;
      target: number | null;
      live_registers: number | null;
      samples: number;
      stalls: components["schemas"]["StallCounts"];
      counts: components["schemas"]["InstructionCounts"] | null;
    };
    /** @description Hardware counters of a range or a kernel; of one run of it. */
    CountedRange: {
      label: string;
      name: string;
      /** @description -1: unknown. */
      device: number;
      counters: {
        metric: string;
        values: components["schemas"]["Distribution"];
      }[];
    };
    /** @description A hardware counter over time. */
    SampledCounter: {
      device: number;
      metric: string;
      values: components["schemas"]["Distribution"];
      sampled_ns: number;
      series: components["schemas"]["Series"];
    };
    /** @description In a second, or why it is not known. */
    Rate: number | components["schemas"]["Unknown"];
    /** @description The most that a GPU can do at its highest clocks. */
    DeviceRoof: {
      device: number;
      bytes_per_s: components["schemas"]["Rate"];
      fp32_per_s: components["schemas"]["Rate"];
      fp64_per_s: components["schemas"]["Rate"];
    };
    /** @description A range in one precision. Shares are of the GPU's roofs; null: unknown. */
    RooflinePoint: {
      label: string;
      name: string;
      device: number;
      /** @enum {string} */
      precision: "fp32" | "fp64";
      /** @description Without those of tensor cores. */
      operations: number;
      bytes: number;
      time_ns: number;
      operations_per_byte: number;
      operations_per_s: number;
      bytes_per_s: number;
      of_arithmetic: number | null;
      of_memory: number | null;
      /** @description null: that was not counted. */
      uses_tensor_cores: boolean | null;
    };
    /** @description How near ranges come to what their GPU can do at the most. */
    Roofline: {
      roofs: components["schemas"]["DeviceRoof"][];
      points: components["schemas"]["RooflinePoint"][];
      left_out: {
        label: string;
        reason: string;
      }[];
    };
    /** @description Counters by instruction: warps and threads that executed it, and memory traffic with the least that would do. */
    InstructionCounts: {
      warps: number;
      threads: number;
      threads_predicated_on: number;
      /** @description Of global memory. */
      sectors: number;
      sectors_ideal: number;
      /** @description Over shared memory. */
      shared_passes: number;
      shared_passes_ideal: number;
      /** @description Of local memory. */
      local_sectors: number;
    };
    /** @description A line of source that was counted. */
    CountedLine: {
      file: string | null;
      line: number | null;
      counts: components["schemas"]["InstructionCounts"] | null;
    };
    /** @description A line of source; instructions are their offsets. */
    CodeLine: {
      file: string | null;
      line: number | null;
      source: string | null;
      samples: number;
      stalls: components["schemas"]["StallCounts"];
      instructions: number[];
    };
    /** @description An image of code that has the kernel. */
    CodeImage: {
      module: string;
      hash: string;
      state: string;
      architecture: string | null;
      ambiguous: boolean;
      resources: {
        registers: number | null;
        stack_bytes: number | null;
        shared_bytes: number | null;
        constant_bytes: number | null;
        local_bytes: number | null;
      };
      samples: number;
      samples_unlocated: number;
      counts: components["schemas"]["InstructionCounts"] | null;
      counted_lines: components["schemas"]["CountedLine"][];
      lines: components["schemas"]["CodeLine"][];
      instructions: components["schemas"]["Instruction"][];
      ptx?: string[];
    };
    /** @description Those that a list leaves out. */
    MoreCallers: {
      groups: number;
      launches: number;
      total_ns: number;
    };
    /** @description Launches of one kernel, most time first; shares are of its time. */
    CallerGroups: {
      groups: components["schemas"]["KernelGroup"][];
      more: components["schemas"]["MoreCallers"];
    };
    CallerStack: components["schemas"]["KernelGroup"] & {
      /** @description Innermost first. */
      frames: string[];
      /** @description Of the outermost, left out. */
      more_frames: number;
    };
    CallerStacks: {
      groups: components["schemas"]["CallerStack"][];
      more: components["schemas"]["MoreCallers"];
    };
    /** @description Where launches of a kernel come from. */
    KernelCallers: {
      by_op: components["schemas"]["CallerGroups"] | components["schemas"]["Unknown"];
      by_module: components["schemas"]["CallerGroups"] | components["schemas"]["Unknown"];
      by_line: components["schemas"]["CallerGroups"] | components["schemas"]["Unknown"];
      by_scope: components["schemas"]["CallerGroups"] | components["schemas"]["Unknown"];
      by_api_call: components["schemas"]["CallerGroups"] | components["schemas"]["Unknown"];
      by_stack: components["schemas"]["CallerStacks"] | components["schemas"]["Unknown"];
    };
    /** @description Consecutive lines of a source file. */
    SourceText: {
      /** @enum {string} */
      type: "source";
      path: string;
      language: string;
      first_line: number;
      /** @description Changed after the recording began. */
      newer?: boolean;
      lines: string[];
    };
    /** @description Kernels of one group, most time first; shares are of the group's time. `more`: those that are left out. */
    GroupReport: {
      /** @enum {string} */
      format: "gpufl-report";
      version: number;
      /** @enum {string} */
      kind: "group";
      session: components["schemas"]["ReportSession"];
      by: string;
      group: string;
      count: number;
      total_ns: number;
      by_name: components["schemas"]["KernelByName"][];
      more: components["schemas"]["MoreCallers"];
    };
    /** @description `gpufl report --kernel NAME --source --format json`. */
    KernelCode: {
      /** @enum {string} */
      format: "gpufl-report";
      version: number;
      /** @enum {string} */
      kind: "kernel";
      session: components["schemas"]["ReportSession"];
      name: string;
      function: string;
      launches: number;
      time_ns: number;
      coverage: components["schemas"]["CoverageSums"];
      callers: components["schemas"]["KernelCallers"];
      samples: number;
      stalls: components["schemas"]["StallCounts"];
      samples_without_code: number;
      counts: components["schemas"]["InstructionCounts"] | null;
      missing: {
        what: string;
        reason: string;
        remedy: string;
      }[];
      images: components["schemas"]["CodeImage"][];
      origins: {
        file: string;
        operators: string;
        nodes: string;
        places: {
          file: string;
          line: number;
          code: string;
        }[];
      }[];
      sources: components["schemas"]["SourceText"][];
    };
    /** @description sampled: samples and weights; evented: events. */
    FlameProfile: {
      /** @enum {string} */
      type: "sampled" | "evented";
      name: string;
      unit: string;
      startValue: number;
      endValue: number;
      samples?: number[][];
      weights?: number[];
      events?: {
        /** @enum {string} */
        type: "O" | "C";
        frame: number;
        at: number;
      }[];
    };
    /** @description A document of speedscope. */
    Flame: {
      $schema: string;
      name: string;
      exporter: string;
      activeProfileIndex?: number;
      shared: {
        frames: {
          name: string;
          file?: string;
          line?: number;
        }[];
      };
      profiles: components["schemas"]["FlameProfile"][];
    };
    /** @description The log's warp_launch line. */
    WarpLaunchLine: {
      time: number;
      dur: number;
      launch: number;
      kernel?: string;
      device?: number;
      correlation?: number;
      join?: string;
      launch_id?: string;
      blocks: number;
      groups: number;
      max_records?: number;
      group_names?: string[];
      waits?: string[];
      flows?: [string, string][];
      clock: string;
      tick_ps: number;
      error_ns?: number;
      event_cost_ps?: number;
      records: number;
      offered?: number;
      dropped?: number;
      full_lanes?: number;
      problems?: string[];
      problems_left_out?: number;
    };
    WarpEvent: {
      event: string;
      is_wait: boolean;
      duration_ns: components["schemas"]["Stats"];
      deviation_ns: number;
      instants: number;
      unmatched: number;
      is_short: boolean;
    };
    /** @description Warps of one group, all blocks together. */
    WarpGroup: {
      group: number;
      name: string;
      lanes: number;
      extent_ns: number;
      busy_ns: number;
      wait_ns: number;
      bubble_ns: number;
      critical_path_share: number;
      events: components["schemas"]["WarpEvent"][];
    };
    /** @description groups is empty if no event is open on most of the critical path. */
    WarpBottleneck: {
      /** @description If it is one. */
      group: string | null;
      groups: string[];
      share: number;
      is_by_path: boolean;
      event: string;
      event_share: number;
      gain: number | null;
      error: number;
    };
    /** @description The critical path through a launch. */
    WarpPath: {
      length_ns: number;
      released: number;
      unexplained: number;
      parts: {
        group: string;
        event: string;
        length_ns: number;
        share: number;
      }[];
    };
    /** @description How evenly blocks are spread. */
    WarpBalance: {
      sms: number;
      resident: number;
      blocks_per_sm: components["schemas"]["Stats"];
      covered_ns: components["schemas"]["Stats"];
      imbalance: number;
      last_sm: number;
      block_ns: components["schemas"]["Stats"];
      longest_block: number;
      waves: {
        blocks: number;
        start_ns: number;
        end_ns: number;
      }[];
    };
    /** @description What warpscope recorded inside of a launch. */
    WarpLaunch: {
      kernel: string;
      launch: components["schemas"]["WarpLaunchLine"];
      spans: number;
      instants: number;
      unmatched: number;
      blocks: number;
      extent_ns: number;
      span_error_ns: number;
      joined:
        | {
            start_ns: number;
            duration_ns: number;
            outside: number;
            worst_ns: number;
          }
        | components["schemas"]["Unknown"];
      groups: components["schemas"]["WarpGroup"][];
      bottleneck: components["schemas"]["WarpBottleneck"] | null;
      critical_path: components["schemas"]["WarpPath"];
      overlaps: {
        a: string;
        b: string;
        both_ns: number;
        extent_ns: number;
      }[];
      steady_state: {
        group: string;
        event: string;
        iteration_ns: components["schemas"]["Stats"];
        left_out: number;
      }[];
      balance: components["schemas"]["WarpBalance"] | components["schemas"]["Unknown"];
    };
    /** @description What is compared. */
    CompareKey: {
      /** @enum {string} */
      subject: "total" | "scope" | "kernel";
      scope?: string;
      kernel?: string;
      config?: string;
    };
    DiffSide: {
      label: string;
      repeats: number;
      devices: string[];
      records_gpu_work: boolean;
    };
    IterationNumbers: {
      found: string;
      fewest: number;
      most: number;
    };
    DiffLaunch: {
      scope: string;
      config: string;
    };
    /** @description A figure of both sides. */
    DiffEntry: {
      /** @enum {string} */
      subject: "total" | "scope" | "kernel";
      scope?: string;
      kernel?: string;
      config?: string;
      launches_a?: components["schemas"]["DiffLaunch"][];
      launches_b?: components["schemas"]["DiffLaunch"][];
      metric: components["schemas"]["CompareMetric"];
      /** @enum {string} */
      verdict:
        | "slower"
        | "faster"
        | "more"
        | "fewer"
        | "changed"
        | "appeared"
        | "vanished"
        | "too_noisy"
        | "drifts"
        | "same";
      a: number;
      b: number;
      /** @description 0.1: by 10%; null: it cannot be told. */
      change: number | null;
      /** @description Ends of the interval. */
      low: number | null;
      high: number | null;
      repeats_a: number;
      repeats_b: number;
      impact_ns: number | null;
    };
    /** @enum {string} */
    CompareMetric: "median" | "mean" | "p90" | "p99" | "total" | "count" | "busy" | "time";
    WarpChange: {
      kernel: string;
      group: string;
      event: string;
      count_a: number;
      count_b: number;
      mean_a_ns: number;
      mean_b_ns: number;
      noise_ns: number;
      is_beyond_noise: boolean;
      path_share_a: number;
      path_share_b: number;
    };
    /** @description `gpufl diff --format json`. */
    Diff: {
      has_difference: boolean;
      /** @enum {string} */
      proof: "repeats" | "parts" | "none";
      parts?: string;
      a: components["schemas"]["DiffSide"];
      b: components["schemas"]["DiffSide"];
      per_iteration?: {
        a: components["schemas"]["IterationNumbers"];
        b: components["schemas"]["IterationNumbers"];
      };
      /** @description Only where scopes of the sides have no name in common: paths of each. Kernels are compared without them. */
      scopes_apart?: {
        /** @description A side may have scopes and none in its list: those with less than min_share of the time are left out. */
        has_scopes_a: boolean;
        a: string[];
        has_scopes_b: boolean;
        b: string[];
      };
      warnings: string[];
      min_change: number;
      min_share: number;
      compared: number;
      left_out: number;
      totals: components["schemas"]["DiffEntry"][];
      findings: components["schemas"]["DiffEntry"][];
      alike: components["schemas"]["DiffEntry"][];
      warps: components["schemas"]["WarpChange"][];
    };
    /** @enum {string} */
    Outcome: "pass" | "regression" | "no verdict";
    /** @description One kernel, one scope or the whole run. */
    GateJudgement: {
      /** @enum {string} */
      subject: "total" | "scope" | "kernel";
      scope?: string;
      kernel?: string;
      config?: string;
      outcome: components["schemas"]["Outcome"];
      reason?: string;
      baseline: number;
      candidate: number;
      /** @description 0.1: by 10%; null: it cannot be told. */
      change: number | null;
      /** @description Ends of the interval. */
      low: number | null;
      high: number | null;
      repeats_baseline: number;
      repeats_candidate: number;
    };
    /** @description A rule and what it found. */
    GateRule: {
      rule: string;
      name?: string;
      outcome: components["schemas"]["Outcome"];
      reason?: string;
      /** @enum {string} */
      subject: "total" | "scope" | "kernel";
      pattern?: string;
      metric: components["schemas"]["CompareMetric"];
      max_increase: number;
      per_iteration: boolean;
      judgements: components["schemas"]["GateJudgement"][];
      left_out: number;
      only_baseline: components["schemas"]["CompareKey"][];
      only_candidate: components["schemas"]["CompareKey"][];
    };
    /** @description `gpufl gate --format json`. */
    Gate: {
      outcome: components["schemas"]["Outcome"];
      baseline: string;
      candidate: string;
      repeats_baseline: number;
      repeats_candidate: number;
      iterations?: {
        baseline: components["schemas"]["IterationNumbers"];
        candidate: components["schemas"]["IterationNumbers"];
      };
      warnings: string[];
      rules: components["schemas"]["GateRule"][];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

// What a GET answers; {} stands for an id.
export interface Answers {
  "/events": unknown;
  "/openapi.json": unknown;
  "/hosts": components["schemas"]["HostList"];
  "/devices": components["schemas"]["DeviceList"];
  "/runs": components["schemas"]["RunList"];
  "/runs/{}": components["schemas"]["RunDetail"];
  "/sessions": components["schemas"]["SessionList"];
  "/sessions/{}": components["schemas"]["SessionDetail"];
  "/devices/{}/health": components["schemas"]["DeviceHealth"];
  "/sessions/{}/sections": components["schemas"]["SectionList"];
  "/sessions/{}/sections/{}": components["schemas"]["Section"];
  "/sessions/{}/report": components["schemas"]["Report"];
  "/runs/{}/report": components["schemas"]["RunReport"];
  "/sessions/{}/code": components["schemas"]["KernelCode"];
  "/sessions/{}/group": components["schemas"]["GroupReport"];
  "/sessions/{}/flame": components["schemas"]["Flame"];
  "/diff": components["schemas"]["Diff"];
  "/gate": components["schemas"]["Gate"];
  "/sessions/{}/windows": components["schemas"]["WindowList"];
  "/sessions/{}/windows/{}": unknown;
  "/sessions/{}/export": unknown;
  "/sessions/{}/tracks": components["schemas"]["TrackList"];
  "/sessions/{}/tiles": components["schemas"]["Tile"];
  "/sessions/{}/series": components["schemas"]["SeriesTile"];
  "/sessions/{}/events": components["schemas"]["EventList"];
  "/sessions/{}/launches": components["schemas"]["LaunchList"];
  "/sessions/{}/events/{}": components["schemas"]["EventDetail"];
  "/sessions/{}/selection": components["schemas"]["Selection"];
  "/sessions/{}/search": components["schemas"]["SearchAnswer"];
  "/sessions/{}/kernels": components["schemas"]["KernelList"];
  "/sessions/{}/scopes": components["schemas"]["ScopeList"];
  "/sessions/{}/waits": components["schemas"]["WaitList"];
  "/sessions/{}/copies": components["schemas"]["CopyList"];
  "/sessions/{}/health": components["schemas"]["Health"];
  "/sessions/{}/ledger": components["schemas"]["LedgerAnswer"];
  "/sessions/{}/notes": components["schemas"]["Notes"];
}
