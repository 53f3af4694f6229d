import Foundation

/// `offhook report FILE`
enum ReportCommand {
    static func run(_ path: String) throws -> ExitStatus {
        let samples = try StatisticsSample.read(path: path)
        let title = "Call of \(URL(fileURLWithPath: path).lastPathComponent)"
        let page = path + ".html"
        let file = try LineFile(path: page)
        file.write(ReportPage(title: title, samples: samples).html)
        file.close()
        if let trouble = file.error { throw FileFailure(trouble) }
        print("\(samples.count) samples are in \(page)")
        return .success
    }
}
