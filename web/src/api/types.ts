// SPDX-License-Identifier: Apache-2.0
// What the API answers, by the names that pages use; wire.ts has the shapes, from the OpenAPI
// document. A section of a report is Report["kernels"], which may be Unknown.
import type { components } from "./wire";

type Schemas = components["schemas"];
export type SectionName = Exclude<keyof Report, "format" | "version" | "kind">;

// Lists.
export type Session = Schemas["Session"];
export type SessionDetail = Schemas["SessionDetail"];
export type SessionList = Schemas["SessionList"];
export type Run = Schemas["Run"];
export type RunDetail = Schemas["RunDetail"];
export type RunList = Schemas["RunList"];
export type Host = Schemas["Host"];
export type HostList = Schemas["HostList"];
export type Device = Schemas["Device"];
export type DeviceList = Schemas["DeviceList"];
export type DeviceHealth = Schemas["DeviceHealth"];
export type DeviceLine = Schemas["DeviceLine"];
export type Multiprocessor = Schemas["Multiprocessor"];
export type Window = Schemas["Window"];
export type WindowList = Schemas["WindowList"];
export type SectionList = Schemas["SectionList"];
export type Notes = Schemas["Notes"];
export type NotesChange = Schemas["NotesChange"];

// Timelines.
export type IndexFrame = Schemas["IndexFrame"];
export type TrackKind = Schemas["TrackKind"];
export type TrackInfo = Schemas["TrackInfo"];
export type SeriesInfo = Schemas["SeriesInfo"];
export type TrackList = Schemas["TrackList"];
export type Tile = Schemas["Tile"];
export type TileTrack = Schemas["TileTrack"];
export type TileRow = Schemas["TileRow"];
export type TileEvents = Schemas["TileEvents"];
export type TileSteps = Schemas["TileSteps"];
export type TileName = Schemas["TileName"];
export type TileNames = Schemas["TileNames"];
export type SeriesTile = Schemas["SeriesTile"];
export type SeriesPicture = Schemas["SeriesPicture"];
export type EventEntry = Schemas["EventEntry"];
export type EventList = Schemas["EventList"];
export type LaunchList = Schemas["LaunchList"];
export type EventDetail = Schemas["EventDetail"];
export type EventAround = Schemas["EventAround"];
export type CodeFrame = Schemas["CodeFrame"];
export type CodeSite = Schemas["CodeSite"];
export type Selection = Schemas["Selection"];
export type TrackSum = Schemas["TrackSum"];
export type SearchAnswer = Schemas["SearchAnswer"];

// Figures that grow with a session.
export type KernelList = Schemas["KernelList"];
export type IndexedKernel = Schemas["IndexedKernel"];
export type ScopeList = Schemas["ScopeList"];
export type WaitList = Schemas["WaitList"];
export type CopyList = Schemas["CopyList"];
export type Health = Schemas["Health"];
export type HealthMetric = Schemas["HealthMetric"];
export type LedgerAnswer = Schemas["LedgerAnswer"];

// Reports.
export type Report = Schemas["Report"];
export type RunReport = Schemas["RunReport"];
export type RunRank = Schemas["RunRank"];
export type ReportSession = Schemas["ReportSession"];
export type Unknown = Schemas["Unknown"];
export type Stats = Schemas["Stats"];
export type WindowEstimate = Schemas["WindowEstimate"];
export type Distribution = Schemas["Distribution"];
export type Series = Schemas["Series"];
export type Insight = Schemas["Insight"];
export type Evidence = Schemas["Evidence"];
export type Capability = Schemas["Capability"];
export type Ledger = Schemas["Ledger"];
export type LedgerNumbers = Schemas["LedgerNumbers"];
export type Coverage = Schemas["Coverage"];
export type LogEvent = Schemas["LogEvent"];
export type LogProblem = Schemas["LogProblem"];
export type GpuTime = Schemas["GpuTime"];
export type DeviceTime = Schemas["DeviceTime"];
export type IdleTime = Schemas["IdleTime"];
export type KernelClass = Schemas["KernelClass"];
export type KernelGroup = Schemas["KernelGroup"];
export type KernelByName = Schemas["KernelByName"];
export type KernelByConfig = Schemas["KernelByConfig"];
export type Kernels = Schemas["Kernels"];
export type LaunchConfig = Schemas["LaunchConfig"];
export type Transfers = Schemas["Transfers"];
export type TransferGroup = Schemas["TransferGroup"];
export type Waits = Schemas["Waits"];
export type WaitCall = Schemas["WaitCall"];
export type WaitLine = Schemas["WaitLine"];
export type LineWait = Schemas["LineWait"];
export type WaitSpan = Schemas["WaitSpan"];
export type LaunchedWork = Schemas["LaunchedWork"];
export type Scope = Schemas["Scope"];
export type ScopeWork = Schemas["ScopeWork"];
export type Iterations = Schemas["Iterations"];
export type Iteration = Schemas["Iteration"];
export type LaunchLatency = Schemas["LaunchLatency"];
export type ApiCall = Schemas["ApiCall"];
export type MemoryUsage = Schemas["MemoryUsage"];
export type MemoryKind = Schemas["MemoryKind"];
export type Communication = Schemas["Communication"];
export type Marker = Schemas["Marker"];
export type Metric = Schemas["Metric"];
export type Counter = Schemas["Counter"];

// Inside of kernels.
export type GroupReport = Schemas["GroupReport"];
export type KernelCallers = Schemas["KernelCallers"];
export type CallerGroups = Schemas["CallerGroups"];
export type CallerStack = Schemas["CallerStack"];
export type KernelCode = Schemas["KernelCode"];
export type CodeImage = Schemas["CodeImage"];
export type CodeLine = Schemas["CodeLine"];
export type SourceText = Schemas["SourceText"];
export type Instruction = Schemas["Instruction"];
export type StallCounts = Schemas["StallCounts"];
export type InstructionCounts = Schemas["InstructionCounts"];
export type CountedLine = Schemas["CountedLine"];
export type Stalls = Schemas["Stalls"];
export type StallKernel = Schemas["StallKernel"];
export type SampledKernel = Schemas["SampledKernel"];
export type CountedRange = Schemas["CountedRange"];
export type SampledCounter = Schemas["SampledCounter"];
export type Roofline = Schemas["Roofline"];
export type RooflinePoint = Schemas["RooflinePoint"];
export type DeviceRoof = Schemas["DeviceRoof"];
export type WarpLaunch = Schemas["WarpLaunch"];
export type WarpGroup = Schemas["WarpGroup"];
export type WarpEvent = Schemas["WarpEvent"];
export type Flame = Schemas["Flame"];
export type FlameProfile = Schemas["FlameProfile"];

// Comparisons.
export type Diff = Schemas["Diff"];
export type DiffEntry = Schemas["DiffEntry"];
export type DiffSide = Schemas["DiffSide"];
export type WarpChange = Schemas["WarpChange"];
export type Gate = Schemas["Gate"];
export type GateRule = Schemas["GateRule"];
export type GateJudgement = Schemas["GateJudgement"];
